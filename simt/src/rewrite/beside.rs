//! Some entries of one text and all of others in one: what is to be loaded together and launched in turn.

use super::RewriteError;
use super::bounds::headers;
use super::excerpt::end_of;

/// Directives that a text has once, at its head.
const HEAD: [&str; 3] = [".version", ".target", ".address_size"];

/// The text with these of its entries only, and behind it all that `others` have but their heads: so the first text says for which
/// version and target all of them are written. Names must not meet; whoever reads the text says so if they do.
///
/// # Errors
/// There is no such entry, or a body has no end.
pub fn beside(ptx: &str, entries: &[&str], others: &[&str]) -> Result<String, RewriteError> {
    let mut text = chosen(ptx, entries, "")?;
    for other in others {
        text.push('\n');
        let is_head = |line: &&str| HEAD.iter().any(|directive| line.trim_start().starts_with(directive));
        text.extend(other.split_inclusive('\n').filter(|line| !is_head(line)));
    }
    Ok(text)
}

/// The text with these of its entries only, each name followed by `suffix`.
///
/// # Errors
/// As [`beside`].
pub fn chosen(ptx: &str, entries: &[&str], suffix: &str) -> Result<String, RewriteError> {
    let headers = headers(ptx)?;
    if let Some(missing) = entries.iter().find(|entry| !headers.iter().any(|header| header.name == **entry)) {
        let known: Vec<&str> = headers.iter().map(|header| header.name).collect();
        return Err(RewriteError::UnknownEntry { entry: (*missing).to_owned(), known: known.join(", ") });
    }
    let mut text = String::new();
    let mut done = 0;
    for header in &headers {
        if entries.contains(&header.name) {
            let name_end = header.body - header.text.len() + header.name.len();
            text.push_str(&ptx[done..name_end]);
            text.push_str(suffix);
            done = name_end;
        } else {
            text.push_str(&ptx[done..header.start]);
            done = end_of(ptx, header)?;
        }
    }
    text.push_str(&ptx[done..]);
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: &str = ".version 7.8\n.target sm_80\n.address_size 64\n\n.shared .b8 tile[4];\n.visible .entry a()\n{\n ret;\n}\n\
        .visible .entry b()\n{\n ret;\n}\n.visible .entry c()\n{\n ret;\n}\n";
    const SECOND: &str =
        "// from elsewhere\n.version 9.2\n.target sm_80\n.address_size 64\n.visible .entry d()\n{\n ret;\n}\n";

    #[test]
    fn chosen_entries_stand_beside_those_of_another_text_under_one_head() {
        let text = beside(FIRST, &["a", "c"], &[SECOND]).expect("both are there");
        let expected = ".version 7.8\n.target sm_80\n.address_size 64\n\n.shared .b8 tile[4];\n.visible .entry a()\n{\n ret;\n}\n\
            \n.visible .entry c()\n{\n ret;\n}\n\n// from elsewhere\n.visible .entry d()\n{\n ret;\n}\n";
        assert_eq!(text, expected);
    }

    #[test]
    fn chosen_entries_stand_under_a_longer_name() {
        let text = chosen(FIRST, &["b"], "_too").expect("it is there");
        assert!(text.contains(".visible .entry b_too()\n{\n ret;\n}"), "{text}");
        assert!(!text.contains("entry a") && !text.contains("entry c") && text.contains("tile[4]"), "{text}");
    }

    #[test]
    fn an_entry_that_is_not_there_is_named() {
        let error = beside(FIRST, &["a", "e"], &[]).expect_err("there is no e");
        assert_eq!(error, RewriteError::UnknownEntry { entry: "e".to_owned(), known: "a, b, c".to_owned() });
    }
}
