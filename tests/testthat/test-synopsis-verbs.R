# Verbs of dplyr on synopses. All rows are kept, and kernels lie between the limits, so counts are those of the rows.

skip_if_not_installed("dplyr")

table <- with_seed(1, data.frame(
  a = sample(0:9, 90, TRUE), day = as.Date("2020-01-01") + sample(0:9, 90, TRUE), kind = sample(c("v", "u"), 90, TRUE),
  hot = runif(90) < 0.3
))
s <- kde_synopsis(table, h = 1e-3)

test_that("filter() joins conditions, and summarise() answers as kde_query() does", {
  limit <- 2.5
  some <- dplyr::filter(s, a > limit | hot, kind == "u")
  expect_equal(dplyr::count(some), dplyr::count(s |> dplyr::filter(kind == "u") |> dplyr::filter(a > 2.5 | hot)))
  inside <- with(table, (a > 2.5 | hot) & kind == "u")
  answer <- dplyr::summarise(some, n = n(), mean(a), top = quantile(a, 0.9))
  expect_named(answer, c("n", "n_lower", "n_upper", "mean(a)", "mean(a)_lower", "mean(a)_upper", "top", "top_lower",
                         "top_upper"))
  expect_equal(c(answer$n, answer$`mean(a)`), c(sum(inside), mean(table$a[inside])), tolerance = 1e-5)
  same <- kde_query(s, (a > 2.5 | hot) & kind == "u", quantile(a, 0.9))
  expect_equal(unlist(answer[7:9]), unlist(same[1:3]), ignore_attr = TRUE)
  expect_identical(dplyr::count(s)$n, 90)
  expect_equal(dplyr::summarise(s, sum(a))[[1]], sum(table$a))
  # conditions that exclude each other hold nothing
  none <- s |> dplyr::filter(kind == "u") |> dplyr::filter(kind == "v" | a > 1e3)
  expect_identical(unlist(dplyr::count(none), use.names = FALSE), c(0, 0, 0))
})

test_that("groups are labels and intervals, and their counts those of table()", {
  counted <- dplyr::count(s, kind, hot)
  expect_identical(counted$kind, c("u", "u", "v", "v"))
  expect_identical(counted$hot, c("FALSE", "TRUE", "FALSE", "TRUE"))
  expect_equal(counted$n, as.vector(t(base::table(table$kind, table$hot))))
  breaks <- c(-0.5, 3.5, 7.5)
  grouped <- s |> dplyr::filter(!hot) |> dplyr::group_by(part = cut(a, breaks), kind)
  answer <- dplyr::summarise(grouped, n = n(), mean = mean(a))
  cold <- table[!table$hot, ]
  parts <- cut(cold$a, breaks)
  expect_identical(unique(answer$part), levels(parts))
  expect_equal(answer$n, as.vector(t(base::table(parts, cold$kind))))
  expect_equal(answer$mean, as.vector(t(tapply(cold$a, list(parts, cold$kind), mean))), tolerance = 1e-5)
  days <- dplyr::count(s, cut(day, as.Date("2020-01-01") + c(-0.5, 4.5, 9.5), right = FALSE))
  expect_identical(days[[1]], c("[2019-12-31,2020-01-05)", "[2020-01-05,2020-01-10)"))
  expect_equal(days$n, c(sum(table$day <= "2020-01-05"), sum(table$day > "2020-01-05")))
  # rare categories are one group
  many <- with_seed(2, kde_synopsis(data.frame(x = rnorm(3001), k = c("a", "a", paste0("k", 1:2999))), size = 50))
  expect_identical(utils::tail(dplyr::count(many, k)[, 1:2], 1),
                   data.frame(k = NA_character_, n = 2000, row.names = 1001L))
})

test_that("prints, and what verbs refuse", {
  expect_snapshot_output({
    shown(s |> dplyr::filter(a > 2, kind == "u" | hot) |> dplyr::group_by(kind, cut(a, c(0, 3, 9))))
    shown(dplyr::filter(s, a > 2))
  })
  selection <- dplyr::filter(s, a > 2)
  edit <- function(field, value) replace(selection, field, list(value))
  expect_refused(
    dplyr::filter(s, kind = "u"),
    dplyr::filter(s, a > c(1, 2)),
    dplyr::filter(s, a > mean(a)),
    dplyr::filter(s, median(kind)),
    dplyr::filter(s, b > 1),
    dplyr::group_by(s, a),
    dplyr::group_by(s, kind, kind),
    dplyr::group_by(s, cut(a, 3)),
    dplyr::group_by(s, cut(a, c(3, 1))),
    dplyr::group_by(s, cut(a, c(1, 3), labels = FALSE)),
    dplyr::group_by(s, cut(kind, c(1, 3))),
    dplyr::group_by(s, substr(kind, 1, 1)),
    dplyr::summarise(s),
    dplyr::summarise(s, max(a)),
    dplyr::summarise(dplyr::group_by(s, kind), kind = n()),
    dplyr::count(s, kind, .level = 2),
    print(edit("cells", list())),
    print(edit("cells", list(1))),
    print(edit("groups", list(list(name = "a"))))
  )
})
