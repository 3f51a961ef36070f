# Data in the place of np's, of the same form, for the calls of its help pages: cps71 (age, logwage), Italy as numbers
# (year, gdp), and the ten values of ?gradients (x, y). The noise is made of whole numbers, so that it is the same
# everywhere.
np_help_data <- function() {
  noise <- function(n) (seq_len(n) * 7919) %% 101 / 50 - 1
  age <- sort(20 + (seq_len(150) * 31) %% 45)
  year <- rep(1951:1998, 4)
  x <- (1:10 * 37) %% 101 / 101
  list(age = age, logwage = 11 + 2 * sin(age / 18) + noise(150) / 2, year = year,
       gdp = 8 + (year - 1950) / 10 + 3 * noise(192), x = x, y = x + noise(10) / 10)
}
