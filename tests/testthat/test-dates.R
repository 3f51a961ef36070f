# Dates and times as regressors and as columns of densities: they count as their numbers, and keep their class where
# points are returned or drawn.

set.seed(7)
n <- 40
day <- as.Date("2021-03-01") + cumsum(sample(1:4, n, TRUE))
moment <- as.POSIXct("2021-03-01 06:00", tz = "America/New_York") + 3600 * cumsum(sample(1:9, n, TRUE))
z <- rnorm(n)
f <- gl(2, 1, n)
y <- sin(as.numeric(day) / 15) + z + rnorm(n) / 5
data <- data.frame(y, day, moment, z, f, days = as.numeric(day), seconds = as.numeric(moment))

results <- c("bw", "fval", "mean", "merr", "grad", "gerr", "resid", "R2")

test_that("one date is a number of days, one time a number of seconds", {
  for (name in c("day", "moment")) for (regtype in c("lc", "ll")) {
    number <- if (name == "day") "days" else "seconds"
    dated <- npreg(data[[name]], y, regtype = regtype, gradients = TRUE)
    plain <- npreg(data[[number]], y, regtype = regtype, gradients = TRUE)
    expect_identical(unclass(dated)[results[-2]], unclass(plain)[results[-2]])
    expect_identical(dated$bws[c("bw", "fval", "grid", "cv", "x")], plain$bws[c("bw", "fval", "grid", "cv", "x")])
    expect_identical(dated$eval[[1L]], data[[name]])
    expect_identical(as.data.frame(dated)$x, data[[name]])
    some <- data[[name]][c(3, NA, 9)] + 1.5
    expect_identical(predict(dated, exdat = some), predict(plain, exdat = as.numeric(some)))
    expect_identical(npreg(dated$bws, exdat = some)$eval[[1L]], some)
    expect_identical(gradients(npreg(dated$bws, exdat = some)), gradients(npreg(plain$bws, exdat = as.numeric(some))))
    drawn <- plot(dated, plot.behavior = "data", neval = 5)$r1$eval[[1L]]
    expect_identical(drawn[c(1L, 5L)], data[[name]][c(1L, n)])
  }
})

test_that("formulas, edited bandwidths and missing values", {
  fit <- npreg(y ~ day, data = data)
  expect_identical(fit$bws$bw, npregbw(y ~ days, data = data)$bw)
  expect_identical(predict(fit, data.frame(day = c(day[1:2], NA))),
                   predict(npreg(y ~ days, data = data), data.frame(days = c(data$days[1:2], NA))))
  expect_identical(predict(fit, data.frame(day = NA)), NA_real_)
  bw <- fit$bws
  bw$bw <- 20
  again <- npreg(bw)
  expect_identical(again$eval$day, day)
  expect_identical(again$mean, npreg(bws = 20, txdat = data$days, tydat = y)$mean)
  gaps <- replace(data, "day", list(replace(day, 5, NA)))
  expect_message(with_gaps <- npreg(y ~ day, data = gaps, na.action = na.exclude), "1 of 40 rows")
  expect_identical(which(is.na(fitted(with_gaps))), 5L)
  # The numbers may be integers, and the class that of another package, which is not kept.
  stored <- structure(as.integer(day), class = c("IDate", "Date"))
  expect_identical(npreg(stored, y)$eval[[1L]], day)
})

test_that("several regressors", {
  for (regtype in c("lc", "ll")) {
    dated <- npreg(y ~ day + moment + f, data = data, regtype = regtype, gradients = TRUE, nmulti = 1)
    plain <- npreg(y ~ days + seconds + f, data = data, regtype = regtype, gradients = TRUE, nmulti = 1)
    expect_identical(unclass(dated)[results[-2]], unclass(plain)[results[-2]])
    expect_identical(unclass(dated$eval), unclass(data[c("day", "moment", "f")]), ignore_attr = "row.names")
    points <- data.frame(day = day[4:6], moment = moment[1:3], f = "2")
    expect_identical(predict(dated, points),
                     predict(plain, data.frame(days = data$days[4:6], seconds = data$seconds[1:3], f = "2")))
    expect_identical(npreg(dated$bws, exdat = points)$eval$moment, moment[1:3])
  }
  bw <- npregbw(data[c("day", "z")], y, nmulti = 1)
  expect_identical(bw$x$day, day)
  expect_identical(bw$bw, npregbw(data[c("days", "z")], y, nmulti = 1)$bw)
  # A surface has no axes for dates.
  drawn <- plot(bw, plot.behavior = "data", neval = 3)
  expect_named(drawn, c("r1", "r2"))
  expect_identical(drawn$r1$eval$day[c(1L, 3L)], day[c(1L, n)])
  expect_identical(drawn$r2$eval$day, rep(structure(median(data$days), class = "Date"), 3L))
})

test_that("densities and distribution functions", {
  marginal <- npudens(~ day + f, data = data, nmulti = 1)
  plain <- npudens(~ days + f, data = data, nmulti = 1)
  expect_identical(marginal$dens, plain$dens)
  expect_identical(marginal$eval$day, day)
  expect_identical(npudens(tdat = day)$dens, npudens(tdat = data$days)$dens)
  expect_identical(npudist(~ moment, data = data)$dist, npudist(~ seconds, data = data)$dist)
  given <- npcdens(y ~ day, data = data, nmulti = 1)
  plain <- npcdens(y ~ days, data = data, nmulti = 1)
  expect_identical(given$condens, plain$condens)
  expect_identical(predict(given, newdata = data.frame(y = 0, day = day[3])),
                   predict(plain, newdata = data.frame(y = 0, days = data$days[3])))
  quantile <- npqreg(y ~ day, data = data, nmulti = 1)
  expect_identical(quantile$quantile, npqreg(y ~ days, data = data, nmulti = 1)$quantile)
  expect_identical(quantile$xeval$day, day)
  expect_identical(npconmode(f ~ day, data = data, nmulti = 1)$conmode,
                   npconmode(f ~ days, data = data, nmulti = 1)$conmode)
  expect_identical(npksum(bws = 9, txdat = day, tydat = y)$ksum, npksum(bws = 9, txdat = data$days, tydat = y)$ksum)
  expect_identical(npksum(bws = npregbw(day, y))$eval[[1L]], day)
})

test_that("semiparametric models", {
  expect_identical(npplreg(y ~ z | day, data = data)$xcoef, npplreg(y ~ z | days, data = data)$xcoef)
  expect_identical(npplreg(y ~ day | z, data = data)$mean, npplreg(y ~ days | z, data = data)$mean)
  part <- npplreg(y ~ z | day, data = data)
  expect_identical(predict(part, newdata = data.frame(z = 0, day = day[2:3])),
                   predict(npplreg(y ~ z | days, data = data), newdata = data.frame(z = 0, days = data$days[2:3])))
  expect_identical(npscoef(y ~ z | day, data = data)$mean, npscoef(y ~ z | days, data = data)$mean)
  index <- function(formula, data) npindex(formula, data = data, nmulti = 1)$mean
  expect_identical(index(y ~ z + day, data), index(y ~ z + days, data))
})

test_that("prints", {
  expect_snapshot_output({
    shown(npreg(bws = 20, txdat = day, tydat = y))
    bw <- npregbw(data[c("moment", "day", "f")], y, bws = c(9000, 9, 0.1), bandwidth.compute = FALSE)
    shown(bw)
    shown(summary(bw))
    shown(npregbw(data[c("moment", "f")], y, bws = c(2, 1), bandwidth.compute = FALSE, bwscaling = TRUE))
  })
})

test_that("refusals", {
  fit <- npreg(y ~ day, data = data)
  mixed <- npreg(y ~ moment + z, data = data, nmulti = 1)
  expect_refused(
    npregbw(z, day),
    npregbw(day ~ z + f, data = data),
    npregbw(rep(day[1], 5), 1:5),
    npregbw(replace(day, 2, Inf), y),
    npregbw(as.POSIXlt(day), y),
    predict(fit, data.frame(day = 18700)),
    predict(fit, data.frame(day = moment)),
    predict(npreg(y ~ z, data = data), data.frame(z = day)),
    predict(mixed, data.frame(moment = day, z = 0)),
    predict(mixed, data.frame(moment = 5, z = 0)),
    predict(mixed, data.frame(moment = moment, z = day)),
    predict(mixed, data.frame(moment = replace(moment, 1, Inf), z = 0)),
    npqreg(day ~ z, data = data),
    npplreg(day ~ z | f, data = data),
    npindex(day ~ z + seconds, data = data),
    kde(day, h = 1)
  )
})
