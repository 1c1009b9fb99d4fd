//! A plot that a lab records: axes and points; how it is drawn is the report's business.

/// Series of points over two axes.
#[derive(Clone, Debug, PartialEq)]
pub struct Plot {
    pub title: String,
    pub x: Axis,
    pub y: Axis,
    pub series: Vec<Series>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// With the unit: `time (µs)`.
    pub label: String,
    /// Logarithmic; points that are not positive are left out.
    pub log: bool,
}

/// How the points of a series are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    Line,
    /// A value holds until the next point: for cliffs.
    Steps,
    Points,
}

impl Mark {
    /// The word that files use.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Line => "line",
            Self::Steps => "steps",
            Self::Points => "points",
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    pub name: String,
    pub mark: Mark,
    pub points: Vec<(f64, f64)>,
}

impl Plot {
    pub fn new(title: impl Into<String>, x: Axis, y: Axis) -> Self {
        Self { title: title.into(), x, y, series: Vec::new() }
    }

    pub fn series(mut self, name: impl Into<String>, mark: Mark, points: impl IntoIterator<Item = (f64, f64)>) -> Self {
        self.series.push(Series { name: name.into(), mark, points: points.into_iter().collect() });
        self
    }
}

impl Axis {
    pub fn linear(label: impl Into<String>) -> Self {
        Self { label: label.into(), log: false }
    }

    pub fn log(label: impl Into<String>) -> Self {
        Self { label: label.into(), log: true }
    }
}
