//! Code in a README stands in a file that is built or run: `<!-- from PATH -->` names it.

use std::path::Path;

fn significant_lines(text: &str) -> Vec<&str> {
    text.lines().map(str::trim).filter(|line| !line.is_empty()).collect()
}

/// The marked code blocks: path and code.
fn marked_blocks(readme: &str) -> Vec<(&str, String)> {
    let mut blocks = Vec::new();
    let mut lines = readme.lines();
    while let Some(line) = lines.next() {
        let Some(path) = line.strip_prefix("<!-- from ").and_then(|rest| rest.strip_suffix(" -->")) else {
            continue;
        };
        assert!(
            lines.find(|line| !line.is_empty()).is_some_and(|fence| fence.starts_with("```")),
            "{path}: a block follows its mark"
        );
        let code: Vec<&str> = lines.by_ref().take_while(|line| !line.starts_with("```")).collect();
        blocks.push((path, code.join("\n")));
    }
    blocks
}

#[test]
fn marked_blocks_stand_in_their_files() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let read = |path: &str| {
        std::fs::read_to_string(root.join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
    };
    for (readme, fewest) in [
        ("README.md", 10),
        ("bindings-node/README.md", 5),
        ("bindings-uniffi/README.md", 5),
        ("bindings-c/README.md", 5),
    ] {
        let text = read(readme);
        let blocks = marked_blocks(&text);
        assert!(blocks.len() >= fewest, "{readme}: fewer blocks than there were");
        for (path, code) in blocks {
            let file = read(path);
            let (code, file) = (significant_lines(&code), significant_lines(&file));
            assert!(code.len() > 1, "{path}: nothing to compare");
            let stands = file.windows(code.len()).any(|window| window == code);
            assert!(stands, "the code of {readme} from {path} does not stand there");
        }
    }
}
