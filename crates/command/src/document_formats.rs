//! The formats in which an answer is printed for a terminal, a program and a ticket.

/// The formats of a command: `$name: HELP OF JSON`, then those that only it has.
macro_rules! document_formats {
    ($name:ident: $json:literal $(, $(#[$about:meta])+ $more:ident)*) => {
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
        enum $name {
            /// For the terminal.
            #[default]
            Text,
            #[value(help = $json)]
            Json,
            /// For a ticket that takes Markdown.
            Markdown,
            $($(#[$about])+ $more,)*
        }

        impl crate::shown::DocumentFormat for $name {
            const JSON: $name = $name::Json;
        }
    };
}

pub(crate) use document_formats;
