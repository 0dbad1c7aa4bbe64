//! The kernels' signatures, read from their sources: each kernel's arguments are declared once, there, and the launchers that
//! Rust calls are made from them.

/// One kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature {
    pub name: String,
    pub parameters: Vec<Parameter>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    pub name: String,
    pub kind: Kind,
}

/// What a parameter is; a string is the element's type as C++ names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `const T*`.
    Read(String),
    /// `T*`.
    Written(String),
    /// An integer by value, as Rust names its type.
    Value(&'static str),
}

/// C++ integers and Rust's.
const INTEGERS: &[(&str, &str)] = &[("uint32_t", "u32"), ("uint64_t", "u64"), ("int32_t", "i32"), ("int64_t", "i64")];

/// The signatures in a source, in its order.
///
/// # Errors
/// A kernel whose signature does not stand literally, or has a parameter that launchers know nothing of.
pub fn signatures(source: &str) -> Result<Vec<Signature>, String> {
    let text = without_comments(source);
    let mut found = Vec::new();
    let mut rest = &text[..];
    while let Some(at) = rest.find("__global__") {
        let (before, after) = (rest[..at].trim_end(), &rest["__global__".len() + at..]);
        if !before.ends_with("extern \"C\"") {
            return Err(format!("a kernel without extern \"C\" before __global__{}", beginning(after)));
        }
        found.push(signature(after)?);
        rest = after;
    }
    Ok(found)
}

/// The signature whose text begins behind `__global__`.
fn signature(text: &str) -> Result<Signature, String> {
    let wrong =
        || format!("a kernel's signature must stand literally in its source; got __global__{}", beginning(text));
    let text = text.trim_start().strip_prefix("void").ok_or_else(wrong)?.trim_start();
    let text = match text.strip_prefix("__launch_bounds__(") {
        Some(bounds) => bounds.split_once(')').ok_or_else(wrong)?.1.trim_start(),
        None => text,
    };
    let (name, text) = text.split_once('(').ok_or_else(wrong)?;
    let (parameters, _) = text.split_once(')').ok_or_else(wrong)?;
    if !is_name(name) {
        return Err(wrong());
    }
    let parameters = parameters.split(',').map(str::trim).filter(|parameter| !parameter.is_empty());
    let parameters = parameters.map(parameter).collect::<Result<_, _>>().map_err(|e| format!("{name}: {e}"))?;
    Ok(Signature { name: name.to_owned(), parameters })
}

fn parameter(text: &str) -> Result<Parameter, String> {
    let wrong = || format!("parameter {text:?}: expected a name behind `const T*`, `T*`, or one of {}", integers());
    let spaced = text.replace('*', " * ").replace("__restrict__", " ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let (name, kind) = match words[..] {
        ["const", element, "*", name] => (name, Kind::Read(element.to_owned())),
        [element, "*", name] => (name, Kind::Written(element.to_owned())),
        [integer, name] => {
            let known = INTEGERS.iter().find(|(c, _)| *c == integer).ok_or_else(wrong)?;
            (name, Kind::Value(known.1))
        }
        _ => return Err(wrong()),
    };
    let element_is_name = match &kind {
        Kind::Read(element) | Kind::Written(element) => is_name(element),
        Kind::Value(_) => true,
    };
    match is_name(name) && element_is_name {
        true => Ok(Parameter { name: name.to_owned(), kind }),
        false => Err(wrong()),
    }
}

/// The launchers: `NAMES`, the kernels in an order of theirs, and one function for each.
pub fn launchers(signatures: &[Signature]) -> String {
    let names = signatures.iter().map(|signature| format!("    {:?},\n", signature.name)).collect::<String>();
    let functions = signatures.iter().enumerate().map(|(i, signature)| launcher(i, signature));
    format!("/// The kernels' names.\npub const NAMES: &[&str] = &[\n{names}];\n{}", functions.collect::<String>())
}

/// Each pointer's element is a type of its own, whose name is compared when it is compiled.
fn launcher(number: usize, Signature { name, parameters }: &Signature) -> String {
    let mut generics = String::new();
    let (mut declared, mut checked, mut passed) = (String::new(), String::new(), String::new());
    for (i, Parameter { name, kind }) in parameters.iter().enumerate() {
        let (kind, argument) = match kind {
            Kind::Value(integer) => ((*integer).to_owned(), format!("Argument::from(r#{name})")),
            Kind::Read(element) | Kind::Written(element) => {
                let view = if matches!(kind, Kind::Read(_)) { "View" } else { "ViewMut" };
                generics += &format!("T{i}: Plain, ");
                checked += &format!(
                    "    const {{ assert!(same(T{i}::NAME, {element:?}), \"parameter {name}: {element}\") }};\n"
                );
                (format!("{view}<'_, T{i}>"), format!("r#{name}.argument()"))
            }
        };
        declared += &format!(", r#{name}: {kind}");
        passed += &format!("{argument}, ");
    }
    format!(
        "
/// Enqueues the kernel of this name; its source says what it does.
///
/// # Errors
/// The driver refuses the launch, or an earlier one has failed.
pub fn {name}<{generics}>(stream: &Stream, shape: Shape{declared}) -> Result<()> {{
{checked}    stream.launch({number}, shape, &[{passed}])
}}
"
    )
}

fn integers() -> String {
    INTEGERS.iter().map(|(c, _)| *c).collect::<Vec<_>>().join(", ")
}

fn is_name(text: &str) -> bool {
    let text = text.trim();
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

fn beginning(text: &str) -> String {
    text.chars().take(60).take_while(|c| *c != '{').collect()
}

/// The source with blanks for comments.
fn without_comments(source: &str) -> String {
    let mut kept = String::with_capacity(source.len());
    let mut rest = source;
    while let Some(at) = rest.find("//").into_iter().chain(rest.find("/*")).min() {
        kept += &rest[..at];
        kept.push(' ');
        let comment = &rest[at..];
        let end = match comment.starts_with("//") {
            true => comment.find('\n'),
            false => comment.find("*/").map(|end| end + 2),
        };
        rest = end.map_or("", |end| &comment[end..]);
    }
    kept + rest
}
