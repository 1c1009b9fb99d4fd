//! What errors come to: their mean, the worst, the mean by class, and whether slow is slow on both sides.

use super::{Class, Row};

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
