import { expect, test } from "@jest/globals";
import { entryTerms, queryTerms } from "../../lib/text/exact-terms.ts";
import { findSigns, SIGN_ASKS, SIGN_COUNTS, SIGN_TELLS_TIME, terms } from "../../lib/text/terms.ts";
import { type DateRange, nearness, readDates } from "../../services/remember/search/date-words.ts";
import { parseQuery } from "../../services/remember/search/find.ts";

/** A Friday. */
const NOW = Date.UTC(2026, 10, 20, 14);
const DAY = 86_400_000;

test.each([
  ["The crane's inspections", "crane inspect"],
  ["She bought it; he is buying", "bui bui"],
  ["CAFÉ cafe Cafe\u0301", "cafe cafe cafe"],
  ["don't won't we've", ""],
  ["O'Brien’s", "o brien"],
  ["postgres_max v2.0 a-b", "postgr max v2 0 b"],
  ["C and vitamin D", "c vitamin d"],
  ["東京 タワー 駅", "東京 タワ ワー 駅"],
  ["회의는 금요일 물", "회의 의는 금요 요일 물"],
  ["我用Python写代码", "我用 python 写代 代码"],
  ["2024年のAWSクラスター 第3章", "2024 年の aw クラ ラス スタ ター 第 3 章"],
  ["ວັນ ថ្ងៃ", "ວັ ັນ ថ្ ្ង ងៃ"],
  ["Größe GRÖSSE Łódź smørrebrød Œuvre", "gross gross lodz smorrebrod oeuvr"],
  ["TOPLANTI toplantı", "toplanti toplanti"],
  ["Wie lange darf die Lieferung dauern?", "die lieferung dauern"],
  ["¿Cuándo quedan los del almacén?", "quedan almacen"],
  ["המדפסת מדפסת והמדפסות", "דפסת דפסת דפס"],
  ["הגיבויים לגיבוי בכל שָׁנָה", "גיבוי גיבוי שנה"],
  ["为什么印刷公司什么时候结束吗", "印刷 刷公 公司 结束"],
  ["怎么样", ""],
  ["x".repeat(100), "x".repeat(40)],
])("the terms of %j", (text, expected) => expect(terms(text).join(" ")).toBe(expected));

test.each([
  ["a soft hyphen", "Rechnungs\u00adfreigabe", "rechnungsfreigab"],
  ["a zero-width space", "cost\u200bcentre", "costcentr"],
  ["a word joiner and a byte order mark", "\ufeffinter\u2060face", "interfac"],
  ["marks of direction", "\u200eaudit\u200f \u2068log\u2069", "audit log"],
  ["a non-joiner between Latin letters", "Auf\u200clage", "auflag"],
  ["a variation selector", "heart\ufe0f", "heart"],
  ["both letters for yeh and kaf", "كتابي", "کتابی"],
])("%s neither divides nor joins words", (_, text, expected) => expect(terms(text).join(" ")).toBe(expected));

test.each([
  ["私の猫 café", "私 猫"],
  ["물을 마신다 abc", "물 을 마 신 다"],
  ["クラスター no 12", ""],
  ["The NOT gate, and IT. Am I in?", "NOT IT not it am_i_in"],
  ["He got an A in F#, C/C++ and R&D", "f# c/c++ r&d A a he_got_an got_an_a an_a_in"],
  ["(see `.env`, **--dry-run** or ~/.config)", ".env --dry-run ~/.config"],
  ["the U.S. at 3.5 %: $5 || 100%, #ops @lee", "us 3.5 $5 100% #ops @lee % ||"],
  [
    "what it was. It is there",
    "what_it_was it_is_there what it what_it was it_was it is it_is there is_there",
  ],
  ["می‌روم", "می روم"],
  ["plain words, well-known: O'Neill - e.g. fish…", "eg"],
])("the exact terms of the text %j", (text, expected) => {
  const { exact } = entryTerms({ title: "", text }).text;
  expect(exact.filter((term) => !term.startsWith("=")).join(" ")).toBe(expected);
});

test("a title is found by its stop words, a text by phrases of three", () => {
  const { title, text } = entryTerms({ title: "How to move", text: "it is how to move, or not" });
  expect(title.exact).toEqual(["how", "to", "how_to"]);
  expect(text.exact).toEqual(["it_is_how", "is_how_to"]);
});

test.each([
  ["a service level agreement", "=sl =la =sla"],
  ["mean time to recovery, multi-factor, or sign-on", "=mt =mf =so"],
  ["Terms. Fees (net)", ""],
])("the initials of %j", (text, expected) => {
  const { exact } = entryTerms({ title: "", text }).text;
  expect(exact.filter((term) => term.startsWith("=")).join(" ")).toBe(expected);
});

test.each([
  ["open RFCs", ["=rfc 2", "or 3"]],
  ["the annual budget review board", ["ab 3", "br 6", "abr 7", "rb 12", "brb 14", "abrb 15"]],
  ["budget", []],
])("the other forms of %j, with the terms that they stand for", (text, expected) => {
  const { variants } = parseQuery(text, NOW);
  expect(variants.map(({ term, mask }) => `${term} ${mask}`)).toEqual(expected);
});

test.each([
  ["who owns IT", "own", "IT"],
  ["Who is who?", "", "who is who_is who is_who who_is_who"],
  ["c# or c++", "c c", "c# c++"],
  ["a || b", "b", ""],
  ["a || a", "", "a a a_a ||"],
  ["نمی‌دانم", "نمیدانم", "نمی دانم"],
])("the terms and the exact terms of the query %j", (text, words, exact) => {
  const found = queryTerms(text);
  expect([found.terms.join(" "), found.exact.join(" ")]).toEqual([words, exact]);
});

test.each([
  ["Did you go?", SIGN_ASKS],
  ["\"Is it 'so?'\" ", SIGN_ASKS],
  ["We met last week.", SIGN_TELLS_TIME],
  ["It costs 900 kroner", SIGN_COUNTS],
  ["Was it in 2023?", SIGN_ASKS | SIGN_TELLS_TIME | SIGN_COUNTS],
  ["A lasting impression in the end", 0],
  ["Der Vertrag läuft seit letzter Woche.", SIGN_TELLS_TIME],
  ["Sie kommt am Donnerstag, im März.", SIGN_TELLS_TIME],
  ["Für Kinder kostet es fünfundzwanzig Kronen.", SIGN_COUNTS],
  ["Der Filter wird täglich gereinigt.", SIGN_COUNTS],
  ["El contrato es de la semana pasada.", SIGN_TELLS_TIME],
  ["Llega el miércoles.", SIGN_TELLS_TIME],
  ["La entrada cuesta veinticinco coronas.", SIGN_COUNTS],
  ["Abren al mediodía.", SIGN_COUNTS],
  ["Le contrat date de l'année dernière.", SIGN_TELLS_TIME],
  ["Elle arrive en février.", SIGN_TELLS_TIME],
  ["L’entrée coûte quarante couronnes.", SIGN_COUNTS],
  ["On nettoie le filtre deux fois.", SIGN_COUNTS],
  ["Hier wohnt die Leiterin der Schule.", 0],
  ["La llave es de la vecina.", 0],
  ["Mes clés sont très belles.", 0],
])("the signs of %j", (text, expected) => expect(findSigns(text)).toBe(expected));

test.each([
  ["on 2023-05-08", "2023-05-08..2023-05-09"],
  ["2023-05", "2023-05-01..2023-06-01"],
  ["8 May 2023", "2023-05-08..2023-05-09"],
  ["May 8th, 2023", "2023-05-08..2023-05-09"],
  ["Sept. 30 2023", "2023-09-30..2023-10-01"],
  ["the 3rd of June", "2000-06-03..2000-06-04 yearly"],
  ["in May", "2000-05-01..2000-06-01 yearly"],
  ["may we march on", ""],
  ["October 2023", "2023-10-01..2023-11-01"],
  ["in 2023", "2023-01-01..2024-01-01"],
  ["30 February 2023", "2023-02-01..2023-03-01"],
  ["three weeks ago", "2026-10-26..2026-11-02"],
  ["two days ago", "2026-11-18..2026-11-19"],
  ["a month ago", "2026-10-01..2026-11-01"],
  ["last week", "2026-11-09..2026-11-16"],
  ["this month", "2026-11-01..2026-12-01"],
  ["last year", "2025-01-01..2026-01-01"],
  ["yesterday or today", "2026-11-19..2026-11-20 2026-11-20..2026-11-21"],
  ["in the last 10 days", "2026-11-10..2026-11-20"],
  ["call 12 people", ""],
])("the dates in %j", (text, expected) => {
  const day = (time: number) => new Date(time).toISOString().slice(0, 10);
  const shown = readDates(text, NOW).dates.map(
    ({ from, to, yearly }) => `${day(from)}..${day(to)}${yearly ? " yearly" : ""}`,
  );
  expect(shown.join(" ")).toBe(expected);
});

test("a time is near a date from three days before it to a week after", () => {
  const [range] = readDates("8 May 2023", NOW).dates as [DateRange];
  expect(nearness(range.from, range)).toBe(1);
  expect(nearness(range.to - 1, range)).toBe(1);
  const [after, before] = [nearness(range.to + 2 * DAY, range), nearness(range.from - 2 * DAY, range)];
  expect(after).toBeGreaterThan(before);
  expect(before).toBeGreaterThan(0);
  expect(nearness(range.from - 4 * DAY, range)).toBe(0);
  expect(nearness(range.to + 7 * DAY, range)).toBe(0);
});

test("a date without a year is of any year, over its end as well", () => {
  const [range] = readDates("31 December", NOW).dates as [DateRange];
  expect(nearness(Date.UTC(2021, 11, 31, 9), range)).toBe(1);
  expect(nearness(Date.UTC(2022, 0, 2), range)).toBeGreaterThan(0.5);
  expect(nearness(Date.UTC(2022, 5, 2), range)).toBe(0);
});

test("a query is its distinct terms, and whether it asks for a time", () => {
  const query = parseQuery("When did the crane's crane break in May 2023?", NOW);
  expect(query).toMatchObject({ asksTime: true, dates: [{ from: Date.UTC(2023, 4), yearly: false }] });
  expect(query.terms).toEqual(["crane", "break", "mai", "2023"]);
  expect(parseQuery("the day we met", NOW).asksTime).toBe(false);
});

test.each([
  ["Wann öffnet das Museum?", true, false],
  ["Seit wann ist es offen?", true, false],
  ["Wie lange dauert die Führung?", true, false],
  ["An welchem Wochentag ist zu?", true, false],
  ["Wie viele Kühe haben wir?", false, true],
  ["Wie oft wird gereinigt?", false, true],
  ["Wie heißt die Leiterin?", false, false],
  ["¿Cuándo abre el museo?", true, false],
  ["¿Qué día cierran?", true, false],
  ["¿Cuántas vacas tenemos?", false, true],
  ["¿Con qué frecuencia se limpia?", false, true],
  ["¿Qué vaca es la nuestra?", false, false],
  ["Quand ouvre le musée ?", true, false],
  ["À quelle heure ferme-t-il ?", true, false],
  ["Combien de vaches avons-nous ?", false, true],
  ["À quelle fréquence nettoie-t-on ?", false, true],
  ["Quelle vache est la nôtre ?", false, false],
])("whether %j asks for a time, or a number", (question, asksTime, asksNumber) =>
  expect(parseQuery(question, NOW)).toMatchObject({ asksTime, asksNumber }),
);

test.each([
  ["Who led the team in March?", "2026-03-01..2026-04-01"],
  ["What was it called in December?", "2025-12-01..2026-01-01"],
  ["Which one did we use last spring?", "2026-03-01..2026-06-01"],
  ["Where was it until the office moved in May?", "2026-04-30..2026-05-01"],
  ["Wer leitete das Team im März?", "2026-03-01..2026-04-01"],
  ["Was galt vor drei Wochen?", "2026-10-26..2026-11-02"],
  ["Welches hatten wir letztes Jahr?", "2025-01-01..2026-01-01"],
  ["¿Dónde estaba la oficina la primavera pasada?", "2026-03-01..2026-06-01"],
  ["¿Qué valía el 3 de mayo de 2026?", "2026-05-03..2026-05-04"],
  ["Qui dirigeait l'équipe l’été dernier ?", "2026-06-01..2026-09-01"],
  ["Que coûtait-il il y a deux mois ?", "2026-09-01..2026-10-01"],
  ["When is the release in March?", null],
  ["Who has led the team since March?", null],
  ["What holds this month?", null],
  ["Who maintains Spring Boot?", null],
])("the past that %j asks about", (text, expected) => {
  const { past } = parseQuery(text, NOW);
  expect(past && [past.from, past.to].map((at) => new Date(at).toISOString().slice(0, 10)).join("..")).toBe(
    expected,
  );
});

test("a query has at most as many terms as a mask has bits", () => {
  const long = Array.from({ length: 50 }, (_, i) => `word${i}`).join(" ");
  expect(parseQuery(long, NOW).terms).toHaveLength(31);
});

test.each([
  ["עובד בPython ובKubernetes", ["python", "kubernet"]],
  ["بلغةRustمن الأدوات", ["rust"]],
  ["хранит MinIOхранилище", ["minio", "хранилище"]],
])("a word ends where its script changes: %s", (text, parts) =>
  expect(terms(text)).toEqual(expect.arrayContaining(parts)),
);

test("digits and marks end no word", () =>
  expect(terms("OpenSearch2 C3PO cost12")).toEqual(["opensearch2", "c3po", "cost12"]));
