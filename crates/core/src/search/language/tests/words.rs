use super::*;

#[test]
fn an_identifier_stands_for_the_whole() {
    means("std::vectors", term("std::vectors"));
    means("\"a std::vector of C++\"", phrase(&[(0, "a"), (1, "std::vector"), (3, "of"), (4, "c++")]));
    means("git-scm.com", phrase(&[(0, "git"), (1, "scm.com")]));
    let long = format!("{}_b", "a".repeat(60)).repeat(3);
    assert!(
        matches!(parsed(&long).unwrap(), Query::Interval(Interval::Phrase(words)) if words[0].1 == plain(&"a".repeat(60)))
    );
}

#[test]
fn a_phrase_starts_at_its_first_term() {
    let long = "x".repeat(100);
    means(&format!("\"{long} a {long} b\""), phrase(&[(0, "a"), (2, "b")]));
    means(&format!("\"{long} a {long}\""), term("a"));
}

#[test]
fn a_run_without_spaces_is_a_phrase_of_pairs() {
    means("東京都", phrase(&[(0, "東京"), (1, "京都")]));
    means("東京", term("東京"));
    means("\"東京 tower\"", phrase(&[(0, "東京"), (2, "tower")]));
}

#[test]
fn stop_words_beside_others_are_left_out() {
    assert_eq!(english("the wind of a sail"), any([term("wind"), term("sail")]));
    assert_eq!(english("The wind"), term("wind"));
    assert_eq!(english("the who"), any([term("the"), term("who")]));
    assert_eq!(english("the"), term("the"));
    assert_eq!(english("the OR wind"), any([term("the"), term("wind")]));
    assert_eq!(english("the AND wind"), all([term("the"), term("wind")]));
    assert_eq!(english("\"the wind\""), phrase(&[(0, "the"), (1, "wind")]));
    assert_eq!(english("+the wind"), signed([term("the")], [term("wind")], []));
    assert_eq!(english("the -wind"), signed([], [term("the")], [term("wind")]));
    assert_eq!(english("-the wind"), signed([], [term("wind")], [term("the")]));
    assert_eq!(english("title:the wind"), any([in_zone(Zone::Title, "the"), term("wind")]));
    assert_eq!(english("the* wind"), any([pattern(prefix("the", "the")), term("wind")]));
}

#[test]
fn words_are_stemmed_in_the_language_that_is_asked_for() {
    let italian = || Query::Filter(Filter::Language("it".into()));
    let both = |first: Query| all([first, italian()]);
    assert_eq!(english("correnti"), term("correnti"));
    for query in ["correnti lang:it", "lang:it correnti", "+language:IT correnti", "correnti +lang:it-CH"] {
        assert_eq!(english(query), both(term("corrent")), "{query}");
    }
    assert_eq!(english("il pane lang:it"), both(term("pan")));
    assert_eq!(english("correnti AND lang:it"), both(term("corrent")));
    assert_eq!(english("(correnti OR -pane) lang:it"), both(english("corrent OR -pan")));
    assert_eq!(english("pani* lang:it"), both(pattern(prefix("pani", "pan"))));
    assert_eq!(english("runs (pane lang:it)"), any([term("run"), both(term("pan"))]));
    assert_eq!(english("(pane lang:it) OR runs"), any([both(term("pan")), term("run")]));
    assert_eq!(english("pane -lang:it"), signed([], [term("pane")], [italian()]));
    assert_eq!(english("runs lang:it lang:en"), all([term("runs"), italian(), english("lang:en")]));
}

#[test]
fn a_prefix_is_folded_and_not_stemmed() {
    assert_eq!(english("Runnings*"), pattern(prefix("runnings", "run")));
    means("Città*", pattern(prefix("citta", "citta")));
    means("std::vec*", pattern(prefix("std::vec", "std::vec")));
    let last = Leaf { pattern: prefix("ba", "ba"), zones: None };
    means("foo-ba*", Query::Interval(Interval::Phrase(vec![(0, plain("foo")), (1, last)])));
    means(&format!("ab {}*", "x".repeat(100)), term("ab"));
}

#[test]
fn a_fuzzy_word_has_one_change_or_two() {
    means("word~1", pattern(fuzzy("word", 1)));
    means("word~2", pattern(fuzzy("word", 2)));
    means("sevenly~", pattern(fuzzy("sevenly", 1)));
    means("eightful~", pattern(fuzzy("eightful", 2)));
    assert_eq!(english("Runnings~"), pattern(fuzzy("run", 2)));
    means("a_b~1", pattern(fuzzy("a_b", 1)));
}

#[test]
fn plain_text_is_words() {
    for (text, expected) in [
        ("C++", term("c++")),
        ("--force", term("force")),
        ("well-known", phrase(&[(0, "well"), (1, "known")])),
        ("a/b", phrase(&[(0, "a"), (1, "b")])),
        ("x<y", phrase(&[(0, "x"), (1, "y")])),
        ("50%", term("50")),
        ("e.g.", term("e.g")),
        ("foo:bar", term("foo:bar")),
        ("what?", term("what")),
        ("rock'n'roll", term("rock'n'roll")),
        ("100^", term("100")),
        ("~/.bashrc", term("bashrc")),
        ("*nix", term("nix")),
        ("a * b", any([term("a"), term("b")])),
        ("**bold**", term("bold")),
        ("10~20", phrase(&[(0, "10"), (1, "20")])),
        ("10:30", phrase(&[(0, "10"), (1, "30")])),
        ("http://x.org", phrase(&[(0, "http"), (1, "x.org")])),
        ("url::parse", term("url::parse")),
        ("Title:a", term("title:a")),
        ("a -> b", any([term("a"), term("b")])),
        ("a -< b", any([term("a"), term("b")])),
        ("<b>", term("b")),
        ("a => b", any([term("a"), term("b")])),
        ("^_^ a :-D", any([term("a"), term("d")])),
        ("contains inside", any([term("contains"), term("inside")])),
        ("\"a\"~b", any([term("a"), term("b")])),
        ("title:-AND", in_zone(Zone::Title, "and")),
    ] {
        means(text, expected);
    }
}
