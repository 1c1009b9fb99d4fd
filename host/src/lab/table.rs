//! A table that a lab records: titles and cells as values, so that each report sets them its own way.

use crate::claim::Value;

/// Rows of values under named columns.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    pub title: String,
    pub columns: Vec<String>,
    /// Each as long as `columns`.
    pub rows: Vec<Vec<Value>>,
}

impl Table {
    pub fn new<const N: usize>(title: impl Into<String>, columns: [&str; N]) -> Self {
        Self { title: title.into(), columns: columns.map(str::to_owned).to_vec(), rows: Vec::new() }
    }

    /// Adds a row; one that is too short is filled with empty cells, one that is too long is cut.
    pub fn row(&mut self, cells: impl IntoIterator<Item = Value>) -> &mut Self {
        let mut cells: Vec<Value> = cells.into_iter().collect();
        cells.resize(self.columns.len(), Value::Text(String::new()));
        self.rows.push(cells);
        self
    }
}
