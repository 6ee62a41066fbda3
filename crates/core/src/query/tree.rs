//! A query as a tree, with its words already analysed to terms.

/// What a document must hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Query {
    /// A term.
    Term(String),
    /// Terms at these distances from where the phrase starts.
    Phrase(Vec<(u32, String)>),
    /// All of them.
    And(Vec<Query>),
    /// Not this.
    Not(Box<Query>),
    /// All of the required or, when there are none, any of the optional; and none of the excluded. With
    /// only excluded ones it is everything else.
    Group {
        /// What must match.
        required: Vec<Query>,
        /// What may match, and then adds to the score.
        optional: Vec<Query>,
        /// What must not match.
        excluded: Vec<Query>,
    },
}

impl Query {
    /// Any of `queries`.
    pub fn any(queries: Vec<Query>) -> Query {
        Query::Group { required: Vec::new(), optional: queries, excluded: Vec::new() }
    }

    /// The terms that score: all that are not under a NOT, each as often as it is said.
    pub fn positive_terms<'a>(&'a self, terms: &mut Vec<&'a str>) {
        match self {
            Query::Term(term) => terms.push(term),
            Query::Phrase(words) => terms.extend(words.iter().map(|(_, term)| term.as_str())),
            Query::And(children) => children.iter().for_each(|child| child.positive_terms(terms)),
            Query::Not(_) => {}
            Query::Group { required, optional, .. } => {
                required.iter().chain(optional).for_each(|child| child.positive_terms(terms));
            }
        }
    }
}
