# Interrupts in every exported function, after which the session must still give the right bits. The calls take long,
# and are the same for all seeds; only the time of the interrupt differs.

many <- function(n, d = 1L) {
  set.seed(1L)
  x <- stats::rnorm(n * d)
  if (d > 1L) matrix(x, n) else x
}

estimate_of <- function(n, d = 1L, ...) kestrel::kde(many(n, d), H = 0.1 * diag(d), ...)

# Calls by their size n; each is made with a small and a large one.
long_calls <- list(
  kde = list(quote(kde(many(n), h = 0.1)), quote(kde(many(n, 2), H = diag(2))), quote(kde(many(n), h = 0.1,
    kernel = "biweight")), quote(kde(many(n, 3), H = diag(3), kernel = "epanechnikov", gridsize = 99)),
    quote(kde(many(n), H = 1, engine = "direct")), quote(kde(many(n), bounds = c(-6, Inf))),
    quote(kde(many(n, 2), bounds = cbind(c(-6, -6), Inf), kernel = "epanechnikov")),
    quote(kde(many(n), h = 0.1, period = 1))),
  kde_stream = list(quote(kde_stream(many(n, 2), function(slab) NULL, H = diag(2), gridsize = c(999, 999), slab = 9)),
                    quote(kde_stream(many(n), tempfile(), h = 0.1, gridsize = 1e5)),
                    quote(kde_stream(many(n), tempfile(fileext = ".nc"), h = 0.1, gridsize = 1e5))),
  dkde = list(quote(dkde(many(n, 2), estimate_of(3000, 2, gridsize = 9)))),
  pkde = list(quote(pkde(many(n), estimate_of(1000))), quote(pkde(many(99, 2), estimate_of(n, 2, gridsize = 5)))),
  kcde = list(quote(kcde(many(n), h = 0.1)), quote(kcde(many(n, 2), H = diag(2))),
              quote(kcde(many(n, 3), H = diag(3) / 2 + 0.3))),
  kdde = list(quote(kdde(many(n), h = 0.1, deriv.order = 2)),
              quote(kdde(many(n, 2), H = diag(2), deriv.order = 1))),
  kde.balloon = list(quote(kde.balloon(many(n, 2), H = diag(2), gridsize = c(99, 99)))),
  kde.boundary = list(quote(kde.boundary(many(n, 2), gridsize = c(99, 99)))),
  kde.truncate = list(quote(kde.truncate(estimate_of(n, 2, gridsize = 999), cbind(cos(1:999), sin(1:999))))),
  hbeta = list(quote(hbeta(many(n), method = "lscv"))),
  kde.sp = list(quote(kde.sp(many(n, 2), hs = rep(1:9 / 9, length.out = n)))),
  nmodes = list(quote(nmodes(many(n), h = c(0.01, 0.1)))), bw.crit = list(quote(bw.crit(many(n)))),
  modetest = list(quote(modetest(many(n), B = 2000))), modetree = list(quote(modetree(many(n)))),
  sizer = list(quote(sizer(many(n), deriv.order = 2)), quote(sizer(many(n, 2), deriv.order = 2))),
  explore = list(quote(explore(estimate_of(n))), quote(explore(estimate_of(n, 2, gridsize = 99)))),
  kfs = list(quote(kfs(many(n, 2), H = diag(2), gridsize = c(9, 9)))),
  kdr = list(quote(kdr(many(n, 2), H = diag(2) / 5, gridsize = c(31, 31)))),
  kdr.segment = list(quote(kdr.segment(kdr(many(999, 2), H = diag(2) / 5)))),
  kms = list(quote(kms(many(n, 2), H = diag(2) / 5))),
  kcurv = list(quote(kcurv(kdde(many(n, 2), H = diag(2), deriv.order = 2, gridsize = c(9, 9))))),
  hpi.kcde = list(quote(hpi.kcde(many(n)))), Hpi.kcde = list(quote(Hpi.kcde(many(n, 2)))),
  Hpi.diag.kcde = list(quote(Hpi.diag.kcde(many(n, 2)))),
  qkde = list(quote(qkde(seq(0, 1, length.out = n), estimate_of(1000)))),
  rkde = list(quote(rkde(10 * n, estimate_of(1000))), quote(rkde(n, estimate_of(1000, 3, gridsize = 5)))),
  contourLevels = list(quote(contourLevels(estimate_of(n, 4, gridsize = 3, compute.cont = FALSE), approx = FALSE))),
  marginal = list(quote(marginal(estimate_of(n, 2, gridsize = 99), 1))),
  hns = list(quote(hns(many(n)))), Hns = list(quote(Hns(many(n, 3)))), Hns.diag = list(quote(Hns.diag(many(n, 3)))),
  hpi = list(quote(hpi(many(n)))), hlscv = list(quote(hlscv(many(n)))), hscv = list(quote(hscv(many(n)))),
  Hpi = list(quote(Hpi(many(n, 2)))), Hpi.diag = list(quote(Hpi.diag(many(n, 2)))),
  Hscv = list(quote(Hscv(many(n, 2)))), Hscv.diag = list(quote(Hscv.diag(many(n, 2)))),
  Hlscv = list(quote(Hlscv(many(n, 2)))), Hlscv.diag = list(quote(Hlscv.diag(many(n, 2)))),
  hucv = list(quote(hucv(many(n)))), Hucv = list(quote(Hucv(many(n, 2)))),
  Hucv.diag = list(quote(Hucv.diag(many(n, 2)))),
  Hbcv = list(quote(Hbcv(many(n, 2)))), Hbcv.diag = list(quote(Hbcv.diag(many(n, 2)))),
  # mclust does not hear an interrupt in time.
  hnm = list(quote(hnm(many(99), G = 1))), Hnm = list(quote(Hnm(many(99, 2), G = 1))),
  Hnm.diag = list(quote(Hnm.diag(many(99, 2), G = 1))),
  hns.kcde = list(quote(hns.kcde(many(n)))), Hns.kcde = list(quote(Hns.kcde(many(n, 3)))),
  kroc = list(quote(kroc(many(n), many(n) + 1))), binning = list(quote(binning(many(n, 2)))),
  kcopula = list(quote(kcopula(many(n, 2), gridsize = 51))),
  histde = list(quote(histde(many(n, 2)))),
  contourSizes = list(quote(contourSizes(estimate_of(n, 2, gridsize = 9)))),
  contourProbs = list(quote(contourProbs(estimate_of(n, 2, gridsize = 9)))),
  ksupp = list(quote(ksupp(estimate_of(n, 2, gridsize = 9)))),
  kda = list(quote(kda(many(n, 2), rep(1:2, n / 2)))), Hkda = list(quote(Hkda(many(n, 2), rep(1:2, n / 2)))),
  Hkda.diag = list(quote(Hkda.diag(many(n, 2), rep(1:2, n / 2)))), hkda = list(quote(hkda(many(n), rep(1:2, n / 2)))),
  compare = list(quote(compare(rep(1:2, n / 2), rep(2:1, n / 2)))),
  compare.kda.cv = list(quote(compare.kda.cv(many(n, 2), rep(1:2, n / 2)))),
  compare.kda.diag.cv = list(quote(compare.kda.diag.cv(many(n, 2), rep(1:2, n / 2)))),
  kde.test = list(quote(kde.test(many(n, 2), many(n, 2) + 1)),
                  quote(kde.test(many(n), many(n), h1 = 1, h2 = 1, B = 9))),
  kde.local.test = list(quote(kde.local.test(many(n, 2), many(n, 2) + 1))),
  dnorm.mixt = list(quote(dnorm.mixt(many(n)))), rnorm.mixt = list(quote(rnorm.mixt(n))),
  dmvnorm.mixt = list(quote(dmvnorm.mixt(many(n, 2), c(0, 0), diag(2)))), rmvnorm.mixt = list(quote(rmvnorm.mixt(n))),
  dmvt.mixt = list(quote(dmvt.mixt(many(n, 2), c(0, 0), diag(2), 3, 1))), rmvt.mixt = list(quote(rmvt.mixt(n))),
  moments.mixt = list(quote(moments.mixt(c(0, 0), diag(2), 1))),
  plotmixt = list(quote(plotmixt(0, 1, props = 1))),
  mise.mixt = list(quote(mise.mixt(mus = 0, sigmas = 1, props = 1, h = 0.1, samp = n))),
  amise.mixt = list(quote(amise.mixt(mus = 0, sigmas = 1, props = 1, h = 0.1, samp = n))),
  hmise.mixt = list(quote(hmise.mixt(0, 1, 1, n))), hamise.mixt = list(quote(hamise.mixt(0, 1, 1, n))),
  Hmise.mixt = list(quote(Hmise.mixt(c(0, 0), diag(2), 1, n))),
  Hmise.mixt.diag = list(quote(Hmise.mixt.diag(c(0, 0), diag(2), 1, n))),
  Hamise.mixt = list(quote(Hamise.mixt(c(0, 0), diag(2), 1, n))),
  Hamise.mixt.diag = list(quote(Hamise.mixt.diag(c(0, 0), diag(2), 1, n))),
  ise.mixt = list(quote(ise.mixt(many(n), mus = 0, sigmas = 1, props = 1, h = 0.1))),
  lscv = list(quote(lscv(many(n), h = c(0.1, 1)))), psi = list(quote(psi(many(n), g = 1:9 / 10, r = 4))),
  hboot = list(quote(hboot(many(n), h0 = 0.1, h = c(0.1, 0.2), B = 9, gridsize = 999))),
  Hboot = list(quote(Hboot(many(n, 2), h0 = 0.3, h = c(0.1, 0.5), B = 9, gridsize = 99))),
  npregbw = list(quote(npregbw(many(n), many(n)^2)), quote(npregbw(y ~ x, data = list(x = many(n), y = many(n)))),
                 quote(npregbw(many(n), many(n)^2, bwtype = "generalized_nn")),
                 quote(npregbw(many(n), many(n)^2, period = 20)),
                 quote(npregbw(many(n), many(n)^2, bwtype = "adaptive_nn", bws = 50, bandwidth.compute = FALSE)),
                 quote(npregbw(data.frame(a = many(n), z = gl(3, 1, n)), many(n)^2, nmulti = 1)),
                 quote(npregbw(data.frame(a = many(n), b = many(n)), many(n)^2, nmulti = 1, bwtype = "adaptive_nn"))),
  npreg = list(quote(npreg(bws = 0.1, txdat = many(n), tydat = many(n)^2))),
  npudensbw = list(quote(npudensbw(dat = many(n, 2), nmulti = 1))),
  npudens = list(quote(npudens(bws = c(0.1, 0.1), tdat = many(n, 2)))),
  npcdensbw = list(quote(npcdensbw(xdat = many(n), ydat = many(n), nmulti = 1)),
                   quote(npcdensbw(xdat = many(n), ydat = many(n), nmulti = 1, bwmethod = "cv.ls"))),
  npudistbw = list(quote(npudistbw(dat = many(n, 2), nmulti = 1))),
  npudist = list(quote(npudist(bws = c(0.1, 0.1), tdat = many(n, 2)))),
  npcdistbw = list(quote(npcdistbw(xdat = many(n), ydat = many(n), nmulti = 1))),
  npcdist = list(quote(npcdist(bws = c(0.1, 0.1), txdat = many(n), tydat = many(n)))),
  npqreg = list(quote(npqreg(bws = c(0.1, 0.1), txdat = many(n), tydat = many(n)))),
  npksum = list(quote(npksum(bws = c(0.1, 0.1), txdat = many(n, 2)))),
  npcdens = list(quote(npcdens(bws = c(0.1, 0.1), txdat = many(n), tydat = many(n)))),
  npquantile = list(quote(npquantile(many(n), stats::ppoints(500), bws = 0.1))),
  npcopula = list(quote(npcopula(npudistbw(dat = many(n), bws = 0.1, bandwidth.compute = FALSE)))),
  npqcmstest = list(quote(npqcmstest(model = y ~ x, data = list(x = many(500), y = many(500)^2), xdat = many(500),
                                     bws = 0.1, boot.num = 99))),
  npconmode = list(quote(npconmode(c(0.1, 0.1), many(n), gl(3, 1, n)))),
  # lm() of more observations does not hear an interrupt in time.
  npcmstest = list(quote(npcmstest(xdat = many(n / 20), model = lm(y ~ x, list(x = many(n / 20), y = many(n / 20)^2)),
                                   bws = 0.1, boot.num = 99))),
  npindexbw = list(quote(npindexbw(many(n, 2), many(n), nmulti = 1))),
  npindex = list(quote(npindex(c(1, 0.5, 0.1), many(n, 2), many(n), gradients = TRUE))),
  npscoefbw = list(quote(npscoefbw(many(n), many(n)^2, many(n)^3, nmulti = 1))),
  npscoef = list(quote(npscoef(0.1, many(n)^2, many(n)^3, many(n)))),
  npdeneqtest = list(quote(npdeneqtest(many(n), many(n) + 1, 0.1, 0.1, boot.num = 99))),
  npunitest = list(quote(npunitest(many(n), many(n) + 1, bw.x = 0.1, bw.y = 0.1, boot.num = 99))),
  npsdeptest = list(quote(npsdeptest(many(200), bw.y = 0.1, bw.y.lag = 0.1, bw.joint = c(0.1, 0.1)))),
  npsymtest = list(quote(npsymtest(many(n), bw = 0.1, boot.num = 99))),
  npdeptest = list(quote(npdeptest(many(200), many(200)^2, bw.data.x = 0.1, bw.data.y = 0.1, bw.joint = c(0.1, 0.1)))),
  npplregbw = list(quote(npplregbw(many(n), many(n)^2, many(n)^3, nmulti = 1))),
  npplreg = list(quote(npplreg(matrix(0.1, 2, 1), many(n)^2, many(n)^3, many(n)))),
  npsigtest = list(quote(npsigtest(0.1, many(n), many(n)^2, boot.num = 99)),
                   quote(npsigtest(0.1, many(n), many(n)^2, boot.num = 9, boot.method = "pairwise"))),
  gradients = list(quote(gradients(npreg(bws = 0.1, txdat = many(n), tydat = many(n)^2, gradients = TRUE)))),
  npplot = list(quote(npplot(npreg(bws = 0.1, txdat = many(n), tydat = many(n)^2)))),
  se = list(quote(se(npreg(bws = 0.1, txdat = many(n), tydat = many(n)^2)))),
  pdf_score = list(quote(pdf_score(many(n), many(n), h = 0.1, sensitivity = c(0.1, 0.3), B = 9))),
  kde_query = list(quote(kde_query(estimate_of(n, 2, eval.points = t(c(0, 0))), matrix(-1, 99, 2), matrix(1, 99, 2))),
                   quote(kde_query(estimate_of(n, 1, eval.points = 0), rep(-1, 99), rep(1, 99)))),
  kde_synopsis = list(quote(kde_synopsis(many(n, 2), size = 999))),
  kde_join = list(quote(kde_join(kde_synopsis(many(n), size = 999, h = 0.1), kde_synopsis(many(n), size = 999, h = 0.1),
                                 "x", lower = seq(-1, 0, by = 0.1), spacing = 1e-9))),
  learn = list(quote(learn(kde_synopsis(many(n, 2), size = 999, h = 1), list(lower = matrix(-1, 99, 2),
                                                                             upper = matrix(1, 99, 2)), rep(9, 99)))),
  refresh = list(quote(refresh(kde_synopsis(database_of(n), "t", "x", size = 999, h = 1, key = "i"), made$con))),
  sketch_plan = list(quote(sketch_plan(many(n)))), kde_sketch = list(quote(kde_sketch(many(n), sketch_plan(many(99))))),
  npreg_stream = list(quote(npreg_stream(data.frame(x = seq_len(n), y = many(n)), y = "y", bws = c(9, 99)))),
  next_chunk = list(quote(next_chunk(many(n)))), sketch_sql = list(quote(sketch_sql(sketch_plan(many(99)), "t", "x"))),
  as_sketch = list(quote(as_sketch(as.data.frame(kde_sketch(many(n), sketch_plan(many(99)))), sketch_plan(many(99))))),
  q_error = list(quote(q_error(abs(many(n)), abs(many(n))))),
  write_pdf = list(quote(write_pdf(estimate_of(n, 1, compute.cont = FALSE), tempfile(fileext = ".nc")))),
  read_pdf = list(quote(read_pdf(sound_file("space")))),
  read_sample = list(quote(read_sample(sound_file("space"), "density"))),
  vech = list(quote(vech(diag(999)))), invvech = list(quote(invvech(seq_len(999 * 500)))),
  vec = list(quote(vec(diag(999)))), invvec = list(quote(invvec(seq_len(999 * 999)))),
  matrix.sqrt = list(quote(matrix.sqrt(diag(99)))), pre.sphere = list(quote(pre.sphere(many(n, 3)))),
  pre.scale = list(quote(pre.scale(many(n, 3)))),
  kde_overlap = list(quote(kde_overlap(estimate_of(n, 2, gridsize = 9), estimate_of(n, 2, gridsize = 9)))),
  kde_risk = list(quote(kde_risk(many(n), many(n), h = 0.1, B = 999))),
  stat_kestrel_density = list(quote(stat_kestrel_density())), geom_kestrel_hdr = list(quote(geom_kestrel_hdr())),
  stat_kestrel_density_2d = list(quote(stat_kestrel_density_2d())),
  stat_kestrel_smooth = list(quote(stat_kestrel_smooth())),
  kestrel_info = list(quote(kestrel_info())), kestrel_threads = list(quote(kestrel_threads())),
  as.data.frame = list(quote(as.data.frame(estimate_of(1000, 2, gridsize = 999, compute.cont = FALSE)))),
  predict = list(quote(predict(estimate_of(3000, 4, gridsize = 3), x = many(n, 4)))),
  summary = list(quote(summary(estimate_of(n)))),
  plot = list(quote(plot(estimate_of(n, 2, gridsize = 50))))
)

# Data are made before the time is measured.
interrupt_call <- function() {
  call <- pick(long_calls[[pick(names(long_calls))]])
  n <- pick(c(3000, 1e5, 2e6), c(5, 3, 2))
  call("interrupted", do.call(substitute, list(call, list(n = n))), after = stats::rexp(1L, 8))
}

# Data and objects of a call, evaluated.
prepared <- function(call, environment) {
  for (k in seq_along(call)[-1L]) {
    if (is.call(call[[k]])) call[[k]] <- if (uses_data(call[[k]])) eval(call[[k]], environment) else call[[k]]
  }
  call
}

uses_data <- function(call) any(c("many", "estimate_of", "database_of") %in% all.names(call))

# A connection to a database with n rows.
database_of <- function(n) database(data.frame(i = seq_len(n), x = many(n)))

# Small calls of all engines, repeated after every interrupt.
probes <- function() {
  line <- (1:200)^1.5 %% 7
  plane <- cbind(line, rev(line))
  list(kestrel::kde(line, h = 0.3)$estimate, kestrel::kde(line, h = 0.3, kernel = "biweight")$estimate,
       kestrel::kde(plane, H = diag(2), gridsize = 20)$estimate,
       kestrel::kde(plane, H = diag(2), gridsize = 20, engine = "fourier")$estimate,
       kestrel::kde(plane, H = diag(2), gridsize = 20, kernel = "epanechnikov", engine = "scanline")$estimate,
       kestrel::kde(plane, H = diag(2), eval.points = plane, kernel = "epanechnikov", engine = "kdtree")$estimate,
       suppressWarnings(kestrel::npregbw(line, plane[, 2L], bws = c(0.5, 1)))$cv, kestrel::psi(line, 0.3, 4),
       kestrel::hpi(line))
}

# Processor seconds of R's own thread. Those of the whole process would count other threads, too, and those of BLAS may
# spin while they wait.
thread_seconds <- function() {
  file <- sprintf("/proc/self/task/%d/schedstat", Sys.getpid())
  if (!file.exists(file)) return(sum(proc.time()[1:2]))
  scan(file, n = 1L, quiet = TRUE) / 1e9
}

# Evaluates a call that SIGINT interrupts after that many seconds. Interrupts count only where they are allowed; this
# waits for one that comes after the end.
interrupted <- function(call, after) {
  gc() # what earlier calls left takes time that is not this call's
  suspendInterrupts({
    killer <- pipe(sprintf("sleep %.3f; kill -INT %d; echo", after, Sys.getpid()), "r")
    used <- thread_seconds()
    end <- tryCatch(list(value = allowInterrupts(withCallingHandlers(eval(call, parent.frame(2L)),
      warning = function(w) invokeRestart("muffleWarning"), message = function(m) invokeRestart("muffleMessage")))),
      interrupt = function(condition) list(interrupted = TRUE), error = function(e) list(error = e))
    used <- thread_seconds() - used
    tryCatch(allowInterrupts({
      readLines(killer, 1L)
      Sys.sleep(0.02)
    }), interrupt = function(condition) NULL)
    close(killer)
  })
  end$value <- NULL
  # Processor time, which other processes do not lengthen: the interrupt was noticed at least this late.
  end$late <- if (isTRUE(end$interrupted)) max(used - after, 0) else 0
  end
}

# How long, in seconds on one thread, an interrupt may go unnoticed; kestrel's own loops poll every 50 ms.
max_late <- if (sanitized) 5 else 0.2

judge_interrupt <- function(call, environment) {
  # Calls of this size need more memory than others may take.
  limit <- options(kestrel.memory_limit = 10 * memory_limit)
  on.exit(options(limit))
  kestrel::kestrel_threads(1L)
  if (is.null(expected_probes)) expected_probes <<- probes()
  call[[2L]] <- call("quote", prepared(call[[2L]], environment))
  end <- eval(call, environment)
  kestrel::kestrel_threads(2L)
  found <- probes()
  error <- end$error
  c(if (!is.null(error) && !inherits(error, "kestrel_error")) {
    sprintf("an error of class %s: %s", class(error)[1L], conditionMessage(error))
  }, if (end$late > max_late) sprintf("%.1f s until the interrupt was noticed", end$late),
  if (!identical(found, expected_probes)) "other bits after an interrupt")
}

expected_probes <- NULL
