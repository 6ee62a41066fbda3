//! Stop words: the articles, prepositions, conjunctions, pronouns and auxiliaries of a language.
//!
//! They are indexed like all words, so that phrases are exact; a query that has other words drops them. The
//! lists contain folded words, without accents.

use std::sync::LazyLock;

use rustc_hash::FxHashSet;

/// Each list, its words separated by spaces, with the language's code.
const LISTS: [(&str, &str); 14] = [
    ("en", ENGLISH),
    ("ca", CATALAN),
    ("da", DANISH),
    ("de", GERMAN),
    ("es", SPANISH),
    ("fi", FINNISH),
    ("fr", FRENCH),
    ("it", ITALIAN),
    ("nl", DUTCH),
    ("no", NORWEGIAN),
    ("pl", POLISH),
    ("pt", PORTUGUESE),
    ("ru", RUSSIAN),
    ("sv", SWEDISH),
];

/// All words of all lists, each with its code.
static WORDS: LazyLock<FxHashSet<(&str, &str)>> = LazyLock::new(|| {
    LISTS.iter().flat_map(|(code, words)| words.split(' ').map(move |word| (*code, word))).collect()
});

/// The code of a language's list; `None` if it has no list.
pub fn list_of(primary: &str) -> Option<&'static str> {
    let code = match primary {
        "" | "und" => "en",
        "nb" | "nn" => "no",
        _ => primary,
    };
    LISTS.iter().map(|(known, _)| *known).find(|known| *known == code)
}

/// Whether a folded word is in a list.
pub fn is_stop_word(list: &str, folded: &str) -> bool {
    WORDS.contains(&(list, folded))
}

const ENGLISH: &str = "a an the \
    and or but nor so yet if than that because although though unless whether while whereas as until \
    of in on at by for from to with without into onto upon about above below under over between among \
    through during before after against within towards toward off out up down per via \
    i me my mine we us our ours you your yours he him his she her hers it its they them their theirs \
    myself yourself himself herself itself ourselves themselves \
    this these those who whom whose which what when where why how there here \
    am is are was were be been being have has had having do does did doing \
    will would shall should can could may might must \
    isn't aren't wasn't weren't don't doesn't didn't haven't hasn't hadn't won't wouldn't can't couldn't \
    shouldn't i'm you're we're they're it's he's she's that's there's what's i've we've you've they've \
    not no any some each every both such";

const ITALIAN: &str = "il lo la i gli le l un uno una \
    di a da in con su per tra fra d \
    del dello della dei degli delle dell al allo alla ai agli alle all dal dallo dalla dai dagli dalle dall \
    nel nello nella nei negli nelle nell sul sullo sulla sui sugli sulle sull col coi \
    e ed o od ma se che perche mentre quando come dove anche ne pero quindi \
    io tu lui lei noi voi loro mi ti ci vi si me te ne c m t s v \
    mio mia miei mie tuo tua tuoi tue suo sua suoi sue nostro nostra nostri nostre vostro vostra vostri vostre \
    questo questa questi queste quello quella quelli quelle quell quel quei quegli \
    chi cui quale quali \
    sono sei e siamo siete era erano ero fu furono sia siano essere stato stata stati state sara saranno \
    ho hai ha abbiamo avete hanno aveva avevano avere abbia \
    non";

const FRENCH: &str = "le la les l un une des du de d au aux \
    a dans en par pour sur sous avec sans vers chez entre jusqu contre depuis pendant \
    et ou mais donc or ni car si que qu quand comme lorsque lorsqu puisque puisqu parce \
    je j tu il elle on nous vous ils elles me m te t se s lui leur y eux moi toi soi \
    mon ma mes ton ta tes son sa ses notre nos votre vos leurs \
    ce c cet cette ces cela ca celui celle ceux celles \
    qui quoi dont ou quel quelle quels quelles \
    suis es est sommes etes sont etais etait etaient ete etre sera seront serait soit fut \
    ai as avons avez ont avais avait avaient avoir aura auront eu \
    ne n pas";

const GERMAN: &str = "der die das den dem des ein eine einen einem einer eines kein keine keinen keinem keiner \
    in im an am auf aus bei beim bis durch fur gegen mit nach ohne seit uber um unter von vom vor zu zum zur \
    zwischen wahrend wegen ins \
    und oder aber denn sondern dass wenn weil als ob wie damit sowie da \
    ich du er sie es wir ihr mich mir dich dir sich ihn ihm ihnen uns euch man \
    mein meine meinen meiner dein deine sein seine seinen seiner seinem ihre ihren ihrer ihrem unser unsere euer \
    dieser diese dieses diesen diesem jener jene jenes \
    wer was wo wann warum welche welcher welches \
    bin bist ist sind seid war waren wird werden wurde wurden worden sei gewesen \
    habe hast hat haben hatte hatten \
    kann konnen konnte soll sollen muss mussen will wollen darf \
    nicht auch nur";

const SPANISH: &str = "el la los las lo un una unos unas al del \
    a ante bajo con contra de desde durante en entre hacia hasta para por segun sin sobre tras \
    y e o u ni pero sino que si porque como cuando donde aunque mientras pues \
    yo tu el ella ello nosotros vosotros ellos ellas usted ustedes me te se nos os le les mi ti si \
    mis tus su sus nuestro nuestra nuestros nuestras vuestro vuestra \
    este esta esto estos estas ese esa eso esos esas aquel aquella aquellos aquellas \
    quien quienes cual cuales cuyo cuya \
    soy eres es somos son era eran fue fueron ser sido sea sean sera seran \
    estoy estas estamos estan estaba estaban estar \
    he has ha hemos han habia habian haber hay \
    no";

const PORTUGUESE: &str = "o a os as um uma uns umas \
    de do da dos das em no na nos nas por pelo pela pelos pelas para com sem sob sobre entre ate desde ao aos \
    num numa dum duma contra apos \
    e ou mas nem que se porque como quando onde embora pois enquanto \
    eu tu ele ela nos vos eles elas voce voces me te lhe lhes mim ti si \
    meu minha meus minhas teu tua teus tuas seu sua seus suas nosso nossa nossos nossas \
    este esta estes estas isto esse essa esses essas isso aquele aquela aqueles aquelas aquilo \
    quem qual quais cujo cuja \
    sou es somos sao era eram foi foram ser sido seja sejam sera serao \
    estou esta estamos estao estava estavam estar \
    tem temos ter tinha tinham ha havia haver \
    nao";

const CATALAN: &str = "el la els les l un una uns unes en na al als del dels pel pels \
    a amb de d en entre fins per sense sobre sota des contra segons \
    i o ni pero sino que qu si perque com quan on mentre \
    jo tu ell ella nosaltres vosaltres ells elles em et es ens us m t s hi ho li \
    meu meva teu teva seu seva seus seves nostre nostra \
    aquest aquesta aquests aquestes aquell aquella aixo allo \
    qui qual quals \
    soc ets es som son era eren fou ser estat sigui sera \
    he has ha hem heu han havia havien haver hi ha \
    no";

const DUTCH: &str = "de het een der des 't \
    aan achter bij binnen boven door in met na naar naast om onder op over per sinds te ten ter tegen tot tussen \
    uit van vanaf via voor zonder \
    en of maar want dus dat als omdat terwijl indien hoewel zodat dan \
    ik jij je hij zij ze wij we jullie u mij me jou hem haar ons hen hun zich het men er \
    mijn jouw zijn onze uw \
    dit deze die dat \
    wie wat welke waar wanneer hoe waarom \
    ben bent is was waren geweest word wordt worden werd werden \
    heb hebt heeft hebben had hadden \
    kan kunnen kon zal zullen zou zouden moet moeten mag \
    niet geen ook";

const SWEDISH: &str = "en ett den det de dem \
    i pa av till fran med om for vid under over mellan mot efter fore genom utan hos at inom ur \
    och eller men att som nar da medan eftersom fast samt an sa \
    jag du han hon vi ni mig dig honom henne oss er sig man \
    min mitt mina din ditt dina sin sitt sina hans hennes dess deras var vart vara \
    denna detta dessa \
    vem vad vilken vilket vilka dar har hur varfor \
    ar var varit bli blir blev blivit \
    ha har hade haft \
    kan kunde ska skall skulle vill maste far \
    inte ej icke";

const NORWEGIAN: &str = "en ei et den det de \
    i pa av til fra med om for ved under over mellom mot etter gjennom uten hos innen ut \
    og eller men at som nar da mens fordi hvis dersom enn sa \
    jeg eg du han hun ho vi me dere de meg deg ham henne oss seg man \
    min mitt mine din ditt dine sin sitt sine hans hennes dens deres var vart vare \
    denne dette disse \
    hvem kven hva kva hvilken hvilket hvilke hvor kor hvordan hvorfor \
    er var vaert vaere blir ble bli blitt \
    ha har hadde hatt \
    kan kunne skal skulle vil ville ma far \
    ikke ikkje ei";

const DANISH: &str = "en et den det de \
    i pa af til fra med om for ved under over mellem mod efter gennem uden hos inden ud \
    og eller men at som nar da mens fordi hvis end sa \
    jeg du han hun vi i mig dig ham hende os jer dem sig man \
    min mit mine din dit dine sin sit sine hans hendes dens dets deres vores \
    denne dette disse \
    hvem hvad hvilken hvilket hvilke hvor hvordan hvorfor der \
    er var vaeret vaere bliver blev blive blevet \
    have har havde haft \
    kan kunne skal skulle vil ville ma far \
    ikke";

const FINNISH: &str = "ja tai seka mutta etta jos kun koska vaan eli joko kuin vaikka siis \
    mina sina han me te he se ne minun sinun hanen meidan teidan heidan sen niiden \
    minua sinua hanta meita teita heita sita niita minulle sinulle hanelle \
    tama taman tata nama naiden tassa tasta tuo tuon nuo siina siita \
    joka jonka jota jossa josta jolla jolle jotka joita joiden joissa \
    mika mita minka kuka kenen ketka missa mista mihin milloin miten miksi \
    olen olet on olemme olette ovat oli olivat ollut olla olisi ole oleva \
    en et ei emme ette eivat \
    kanssa ilman ennen jalkeen kautta varten myos niin";

const POLISH: &str = "i a oraz lub albo ale lecz ze zeby gdy jesli jezeli poniewaz wiec czy niz \
    w we z ze na do od po za o u przy przez dla bez nad pod przed miedzy wedlug podczas \
    ja ty on ona ono my wy oni one mnie mi mna ciebie cie ci go jego jemu mu ja jej nia nas nam was wam ich im \
    sie siebie sobie \
    moj moja moje twoj twoja twoje swoj swoja swoje nasz nasza nasze wasz wasza \
    ten ta to tego tej temu tym te ci tych tamten tamta \
    kto co ktory ktora ktore ktorych ktorym jaki jaka jakie gdzie kiedy jak dlaczego \
    jestem jestes jest jestesmy sa byl byla bylo byli byly byc bedzie beda \
    nie tak tez";

const RUSSIAN: &str = "и а но или либо да что чтобы если когда как потому поэтому хотя чем ли же бы \
    в во на с со к ко у о об обо от ото до по за из изо над под при про без для через между перед после \
    я ты он она оно мы вы они меня мне мной тебя тебе его ему ним ее её ей ней нас нам нами вас вам вами их им ими \
    него нее неё них себя себе собой \
    мой моя мое моё мои твой твоя твои свой своя своё свои своих наш наша наше наши ваш ваша ваши \
    этот эта это эти этого этой этих тот та то те того той тех \
    кто кого чего чему который которая которое которые которых где куда почему \
    есть был была было были быть будет будут \
    не ни";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::fold::fold;

    #[test]
    fn lists_are_written_as_folding_writes_words() {
        for (code, list) in LISTS {
            let words: Vec<&str> = list.split(' ').collect();
            assert!((30..=240).contains(&words.len()), "{code}: {}", words.len());
            for word in words {
                let mut folded = String::new();
                fold(word, &mut folded);
                assert!(!word.is_empty() && word == folded, "{code}: {word:?}");
            }
        }
        assert_eq!(["", "nn", "it", "xx"].map(list_of), [Some("en"), Some("no"), Some("it"), None]);
    }
}
