//! What errors come to: their mean, the worst, the mean by class, and whether slow is slow on both sides.

use super::{Class, Row, RungRow};

/// What the model is held to over the set evaluation: the mean and the worst error without their sign, the least correlation of
/// ranks, and the error of any rung of the ladder.
pub const MEAN_MAX: f64 = 0.2;
pub const WORST_MAX: f64 = 0.6;
pub const SPEARMAN_MIN: f64 = 0.95;
pub const RUNG_MAX: f64 = 0.1;

/// Errors of some rows; shares, 0.1 being 10%.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// Rows that were measured.
    pub cases: usize,
    pub mean_absolute_error: f64,
    /// With its sign.
    pub worst: f64,
    pub worst_case: String,
    /// Spearman's coefficient of rank correlation.
    pub spearman: f64,
    /// Rows, mean absolute error and worst of each class that has any.
    pub classes: Vec<ClassSummary>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct ClassSummary {
    pub class: Class,
    pub cases: usize,
    pub mean_absolute_error: f64,
    /// With its sign.
    pub worst: f64,
}

impl Summary {
    /// Of the rows that were measured; `None` if none was.
    pub fn of(rows: &[Row]) -> Option<Self> {
        let errors: Vec<(&Row, f64)> = rows.iter().filter_map(|row| Some((row, row.error()?))).collect();
        let (worst_row, worst) = worst(&errors)?;
        let pairs: Vec<(f64, f64)> = rows.iter().filter_map(|row| Some((row.modelled_us, row.measured_us?))).collect();
        Some(Self {
            cases: errors.len(),
            mean_absolute_error: mean_absolute(&errors),
            worst,
            worst_case: worst_row.case.name(),
            spearman: spearman(&pairs),
            classes: Class::ALL.into_iter().filter_map(|class| of_class(&errors, class)).collect(),
        })
    }
}

impl Summary {
    /// What of the bounds these errors do not keep, a sentence each; none if they keep all.
    pub fn misses(&self) -> Vec<String> {
        let percent = |share: f64| format!("{:.1}%", 100.0 * share);
        let mut misses = Vec::new();
        if self.mean_absolute_error.is_nan() || self.mean_absolute_error >= MEAN_MAX {
            let (found, bound) = (percent(self.mean_absolute_error), percent(MEAN_MAX));
            misses.push(format!("the mean absolute error is {found}, not under {bound}"));
        }
        if self.worst.is_nan() || self.worst.abs() >= WORST_MAX {
            let (found, bound) = (percent(self.worst), percent(WORST_MAX));
            misses.push(format!("{} is off by {found}, not by under {bound}", self.worst_case));
        }
        if self.spearman.is_nan() || self.spearman <= SPEARMAN_MIN {
            misses.push(format!("the correlation of ranks is {:.3}, not over {SPEARMAN_MIN}", self.spearman));
        }
        misses
    }
}

/// Rungs of the ladder that are off by more than their bound, a sentence each.
pub fn rungs_off(rungs: &[RungRow]) -> Vec<String> {
    let off = rungs.iter().filter_map(|row| Some((row, row.error().filter(|error| error.abs() > RUNG_MAX)?)));
    off.map(|(row, error)| {
        let (found, bound) = (100.0 * error, 100.0 * RUNG_MAX);
        format!("{} is off by {found:+.1}%, not within {bound:.0}%", row.rung.name)
    })
    .collect()
}

fn of_class(errors: &[(&Row, f64)], class: Class) -> Option<ClassSummary> {
    let errors: Vec<(&Row, f64)> = errors.iter().copied().filter(|(row, _)| row.case.class == class).collect();
    let (_, worst) = worst(&errors)?;
    Some(ClassSummary { class, cases: errors.len(), mean_absolute_error: mean_absolute(&errors), worst })
}

fn worst<'a>(errors: &[(&'a Row, f64)]) -> Option<(&'a Row, f64)> {
    errors.iter().copied().max_by(|a, b| a.1.abs().total_cmp(&b.1.abs()))
}

fn mean_absolute(errors: &[(&Row, f64)]) -> f64 {
    errors.iter().map(|(_, error)| error.abs()).sum::<f64>() / errors.len() as f64
}

/// The correlation of ranks; equal values share the mean of their ranks. NaN of fewer than two pairs.
pub fn spearman(pairs: &[(f64, f64)]) -> f64 {
    let (x, y): (Vec<f64>, Vec<f64>) = pairs.iter().copied().unzip();
    pearson(&ranks(&x), &ranks(&y))
}

fn ranks(values: &[f64]) -> Vec<f64> {
    let rank = |value: f64| {
        let less = values.iter().filter(|&&other| other < value).count();
        let equal = values.iter().filter(|&&other| other == value).count();
        less as f64 + (equal as f64 + 1.0) / 2.0
    };
    values.iter().map(|&value| rank(value)).collect()
}

fn pearson(x: &[f64], y: &[f64]) -> f64 {
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let (mean_x, mean_y) = (mean(x), mean(y));
    let product = |a: &[f64], mean_a: f64, b: &[f64], mean_b: f64| {
        a.iter().zip(b).map(|(a, b)| (a - mean_a) * (b - mean_b)).sum::<f64>()
    };
    product(x, mean_x, y, mean_y) / (product(x, mean_x, x, mean_x) * product(y, mean_y, y, mean_y)).sqrt()
}

#[cfg(test)]
mod tests {
    use warpwise_simt::isa::Isa;

    use super::super::CASES;
    use super::*;

    #[test]
    fn ranks_that_agree_correlate_fully_and_reversed_ones_inversely() {
        assert_eq!(spearman(&[(1.0, 10.0), (2.0, 1000.0), (3.0, 1001.0)]), 1.0);
        assert_eq!(spearman(&[(1.0, 3.0), (2.0, 2.0), (3.0, 1.0)]), -1.0);
        // By hand: ranks 1, 2.5, 2.5, 4 against 1, 2, 3, 4.
        assert!((spearman(&[(1.0, 1.0), (2.0, 2.0), (2.0, 3.0), (5.0, 4.0)]) - 0.9f64.sqrt()).abs() < 1e-12);
        assert!(spearman(&[]).is_nan());
    }

    #[test]
    fn bounds_that_are_not_kept_are_said_one_by_one() {
        let good = Summary {
            cases: 30,
            mean_absolute_error: 0.19,
            worst: -0.59,
            worst_case: "a case".to_owned(),
            spearman: 0.96,
            classes: Vec::new(),
        };
        assert_eq!(good.misses(), [""; 0]);
        let bad = Summary { mean_absolute_error: 0.2, worst: -0.6, spearman: f64::NAN, ..good };
        let misses = bad.misses();
        assert_eq!(misses[1], "a case is off by -60.0%, not by under 60.0%");
        assert_eq!(misses.len(), 3, "{misses:?}");
        let rung = |modelled| RungRow { rung: &super::super::ladder::RUNGS[0], modelled, measured: Some(100.0) };
        assert_eq!(rungs_off(&[rung(109.0), rung(91.0)]), [""; 0]);
        assert_eq!(rungs_off(&[rung(111.0), rung(100.0)]), ["shared, latency is off by +11.0%, not within 10%"]);
    }

    #[test]
    fn the_mean_takes_errors_without_their_sign_and_the_worst_keeps_it() {
        let row = |index: usize, modelled_us, measured_us| Row {
            case: &CASES[index],
            modelled_us,
            isa: Isa::Ptx,
            measured_us,
        };
        let rows = [row(0, 11.0, Some(10.0)), row(1, 7.0, Some(10.0)), row(2, 5.0, None)];
        let summary = Summary::of(&rows).expect("two were measured");
        assert_eq!((summary.cases, summary.worst_case.as_str()), (2, CASES[1].name().as_str()));
        assert!((summary.mean_absolute_error - 0.2).abs() < 1e-12 && (summary.worst + 0.3).abs() < 1e-12);
        assert_eq!(summary.classes.len(), 1);
        assert_eq!(Summary::of(&rows[2..]), None);
    }
}
