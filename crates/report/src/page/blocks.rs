//! The blocks of a page in Markdown, as far as the documentation uses it.

/// A part of a page, in the order of the page.
pub(super) enum Block<'a> {
    Heading(&'a str),
    Paragraph(String),
    /// A line of a list: its indent, its mark and its words.
    Item(usize, &'a str, String),
    /// Rows of cells, the head first.
    Table(Vec<Vec<&'a str>>),
    Code(Vec<&'a str>),
}

/// The parts of a page.
pub(super) fn blocks(markdown: &str) -> Vec<Block<'_>> {
    let mut found: Vec<Block<'_>> = Vec::new();
    let mut lines = markdown.lines().peekable();
    // Whether the next line of text goes on with the block above it.
    let mut open = false;
    while let Some(line) = lines.next() {
        let text = line.trim();
        if let Some(fence) = fence(text) {
            let code = lines.by_ref().take_while(|line| line.trim() != fence);
            found.push(Block::Code(code.collect()));
            open = false;
        } else if text.starts_with("<!--") {
            let mut last = line;
            while !last.contains("-->") {
                let Some(next) = lines.next() else { break };
                last = next;
            }
        } else if text.is_empty() {
            open = false;
        } else if line.starts_with('#') {
            found.push(Block::Heading(line.trim_start_matches('#').trim()));
            open = false;
        } else if text.starts_with('|') {
            push_row(&mut found, text, open);
            open = true;
        } else if let Some((mark, words)) = item(text) {
            let indent = line.len() - line.trim_start().len();
            found.push(Block::Item(indent, mark, words.to_owned()));
            open = true;
        } else {
            push_text(&mut found, text, open);
            open = true;
        }
    }
    found
}

/// The mark that begins and ends a block of code.
fn fence(text: &str) -> Option<&str> {
    let mark = text.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let length = text.len() - text.trim_start_matches(mark).len();
    (length >= 3).then(|| &text[..length])
}

/// The mark of a line of a list and what is behind it.
fn item(text: &str) -> Option<(&str, &str)> {
    let (mark, words) = text.split_once(' ')?;
    let digits = mark.trim_end_matches('.');
    let is_number = digits.len() < mark.len() && digits.parse::<u16>().is_ok();
    (matches!(mark, "-" | "*" | ">") || is_number).then_some((mark, words))
}

fn push_text(found: &mut Vec<Block<'_>>, text: &str, open: bool) {
    match found.last_mut() {
        Some(Block::Paragraph(words) | Block::Item(_, _, words)) if open => {
            words.push(' ');
            words.push_str(text);
        }
        _ => found.push(Block::Paragraph(text.to_owned())),
    }
}

fn push_row<'a>(found: &mut Vec<Block<'a>>, text: &'a str, open: bool) {
    let cells = cells(text);
    let is_rule = |cell: &&str| !cell.is_empty() && cell.chars().all(|c| matches!(c, '-' | ':'));
    match found.last_mut() {
        Some(Block::Table(_)) if open && cells.iter().all(is_rule) => {}
        Some(Block::Table(rows)) if open => rows.push(cells),
        _ => found.push(Block::Table(vec![cells])),
    }
}

/// The cells of a row; a bar behind a backslash belongs to its cell.
fn cells(text: &str) -> Vec<&str> {
    let inner = text.strip_prefix('|').unwrap_or(text);
    let inner = inner.strip_suffix('|').unwrap_or(inner);
    let mut cells = Vec::new();
    let mut start = 0;
    for (at, _) in inner.match_indices('|') {
        if !inner[..at].ends_with('\\') {
            cells.push(inner[start..at].trim());
            start = at + 1;
        }
    }
    cells.push(inner[start..].trim());
    cells
}
