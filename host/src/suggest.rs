//! Unknown names: what was given, what there is, and which of those is nearest.

use std::fmt;

/// A name that is not in the list it was looked up in. Displays as one or two lines that list what there is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownName {
    /// What kind of thing was looked up: "lab", "kernel", "device".
    pub kind: &'static str,
    pub given: String,
    pub known: Vec<String>,
}

impl UnknownName {
    pub fn new(kind: &'static str, given: &str, known: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self { kind, given: given.to_owned(), known: known.into_iter().map(Into::into).collect() }
    }

    /// The known name that was most likely meant, if any is near enough.
    pub fn nearest(&self) -> Option<&str> {
        nearest(&self.given, self.known.iter().map(String::as_str))
    }
}

impl fmt::Display for UnknownName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "there is no {} `{}`", self.kind, self.given)?;
        if let Some(nearest) = self.nearest() {
            write!(f, "; did you mean `{nearest}`?")?;
        }
        if self.known.is_empty() {
            return write!(f, "\nthere are none here");
        }
        write!(f, "\nthere are: {}", self.known.join(", "))
    }
}

impl std::error::Error for UnknownName {}

/// Names whose similarity (Jaro-Winkler, 0 to 1) is below this are not worth suggesting. Estimated: `vecad` → `vecadd`
/// scores 0.97, `RTX 4080` → `RTX 4090` 0.95, two unrelated kernel names about 0.5.
const SIMILARITY_MIN: f64 = 0.75;

/// The candidate nearest to `given`, upper and lower case alike; `None` if none is near.
pub fn nearest<'a>(given: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    nearest_first(given, candidates).into_iter().next()
}

/// All candidates near to `given`, the nearest first; those alike in the candidates' order.
pub fn nearest_first<'a>(given: &str, candidates: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let given = given.to_lowercase();
    let similarity = |candidate: &str| strsim::jaro_winkler(&given, &candidate.to_lowercase());
    let mut near: Vec<(f64, &str)> = candidates
        .map(|candidate| (similarity(candidate), candidate))
        .filter(|(similarity, _)| *similarity >= SIMILARITY_MIN)
        .collect();
    near.sort_by(|a, b| b.0.total_cmp(&a.0));
    near.into_iter().map(|(_, candidate)| candidate).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelt_name_suggests_the_nearest_and_lists_all() {
        let unknown = UnknownName::new("lab", "lanch", ["ids", "launch", "life"]);
        assert_eq!(
            unknown.to_string(),
            "there is no lab `lanch`; did you mean `launch`?\nthere are: ids, launch, life"
        );
    }

    #[test]
    fn a_name_like_no_other_suggests_nothing() {
        assert_eq!(nearest("zebra", ["ids", "launch"].into_iter()), None);
        assert_eq!(nearest("rtx 4080", ["A100 40GB", "RTX 4090"].into_iter()), Some("RTX 4090"));
    }
}
