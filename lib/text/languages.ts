/** Words that do not distinguish a text from others: grammar and filler. */
export const STOP_WORDS: ReadonlySet<string> = new Set(
  `a about above after again all also am an and any are as at be because been before being both but by can could did do
  does doing don down during each even few for from further get gets getting got had has have having he her here hers
  herself him himself his how i if in into is it its itself just let like ll lot m make many me might more most much
  must my myself no nor not now of off on once only or other our ours out over own re really s same shall she should so
  some such t than that the their theirs them then there these they thing things this those through to too under until
  up us ve very was we were what when where which while who whom whose why will with would yes yet you your yours
  yourself aber als auch auf aus bei beim bin bis bist da dann darf dass dem der des dich dir doch du durch durfen ein
  eine einem einen einer eines er es euch euer gegen habe haben habt hatte hatten hier ich ihm ihn ihnen ihr ihre ihrem
  ihren ihrer im ist jede jedem jeden jeder jedes kann kannst kein keine keinem keinen keiner konnen machen mein meine
  meinem meinen meiner mich mir mit muss mussen nach nicht noch nur ob oder ohne sehr sein seine seinem seinen seiner
  seit sich sie sind soll sollen sollte uber um und uns unser unsere unserem unseren unserer unter vom von vor wann
  warum was welche welchem welchen welcher welches wem wen wenn wer werde werden wie lang lange wieder wieso wir wird wo
  wohin womit wurde wurden zu zum zur zwischen das den heisst heissen aquel aquella aunque cada como con cual cuales
  cualquier cuando cuanta cuantas cuanto cuantos de del desde donde durante el ella ellas ellos en entre es esa ese eso
  esos esta estaba estamos estan estar estas este esto estos estoy fue fueron habia hasta la las los mientras muy nos
  nosotros nuestra nuestras nuestro nuestros otra otras otro otros para pero por porque que quien quienes segun sobre sus
  tambien tiene tienen todas todos una unas unos usted ustedes של את על עם זה זו זאת הוא היא הם הן אני אנחנו אתה אתם יש
  אין אינו אינה לא כן גם רק אם או כי אבל מה מי מתי איפה היכן איך למה מדוע כמה איזה איזו אילו באיזה באיזו לאיזה מאיזה עד
  אל מן כל בכל לכל כבר עוד היה הייתה היו יהיה להיות אשר בין שלי שלך שלו שלה שלנו שלהם אותו אותה לי לו לה לנו להם בו
  בה`.split(/\s+/),
);

/** Words of questions that say which kind of answer is wanted, more than what about: their absence from a text says little. */
export const QUESTION_WORDS: ReadonlySet<string> = new Set(
  `allow amount ask big call come count do early far fast find frequent frequently give go happen high kind know large late
  long look make may mean name need number often old person quantity reach see soon sort take tell thing type use want
  work brauchen finden gibt heissen nehmen oft viel viele finde brauche`.split(/\s+/),
);

/** Question words of Chinese: between the words of a question, there are no spaces. */
export const CHINESE_QUESTIONS =
  /什[么麼][时時]候|[为為]什[么麼]|什[么麼]|[时時]候|哪[里裡个個些]|怎[么麼][样樣]?|多少|多久|如何|[吗嗎呢]$/u;

/** Irregular forms, which no stemmer can handle, with their base word. */
export const IRREGULAR_FORMS: ReadonlyMap<string, string> = new Map(
  `begin:began,begun break:broke,broken bring:brought build:built buy:bought catch:caught choose:chose,chosen come:came
  deal:dealt dig:dug draw:drew,drawn drink:drank,drunk drive:drove,driven eat:ate,eaten fall:fell,fallen feed:fed
  feel:felt fight:fought find:found fly:flew,flown forget:forgot,forgotten forgive:forgave,forgiven freeze:froze,frozen
  give:gave,given go:went,gone grow:grew,grown hang:hung hear:heard hide:hid,hidden hold:held keep:kept know:knew,known
  lead:led leave:left lend:lent lose:lost mean:meant meet:met pay:paid ride:rode,ridden ring:rang,rung rise:rose,risen
  run:ran say:said see:saw,seen sell:sold send:sent shake:shook,shaken shine:shone shoot:shot show:shown
  sing:sang,sung sit:sat sleep:slept speak:spoke,spoken spend:spent stand:stood steal:stole,stolen stick:stuck
  strike:struck swim:swam,swum take:took,taken teach:taught tell:told think:thought throw:threw,thrown
  understand:understood wake:woke,woken wear:wore,worn win:won write:wrote,written child:children person:people
  man:men woman:women foot:feet tooth:teeth mouse:mice life:lives wife:wives good:better,best bad:worse,worst`
    .split(/\s+/)
    .flatMap((entry) => {
      const [base = "", forms = ""] = entry.split(":");
      return forms.split(",").map((form): [string, string] => [form, base]);
    }),
);
