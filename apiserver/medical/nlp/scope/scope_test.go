// SPDX-License-Identifier: Apache-2.0

package scope

import "testing"

type sentenceTable []struct{ text, want string }

func (table sentenceTable) run(t *testing.T) {
	t.Parallel()
	for _, row := range table {
		t.Run(row.text, func(t *testing.T) {
			t.Parallel()
			if got := annotate(row.text).formatAssertions(); got != row.want {
				t.Errorf("got %s, want %s", got, row.want)
			}
		})
	}
}

func TestNegationAhead(t *testing.T) {
	sentenceTable{
		{"I have a fever", "fever+"},
		{"no fever", "fever-"},
		{"I don't have a fever", "fever-"},
		{"no fever and no cough", "fever- cough-"},
		{"no fever but a bad cough", "fever- cough+"},
		{"a cough but no fever", "cough+ fever-"},
		{"cough, fever, no rash", "cough+ fever+ rash-"},
		{"no fever. cough since monday", "fever- cough+"},
		{"no fever; cough", "fever- cough+"},
		{"no fever — cough", "fever- cough+"},
		{"no fever just a cough", "fever- cough+"},
		{"haven't been out because of the cough", "cough+"},
		{"no fever and I cough", "fever- cough+"},
		{"I don't think I have a fever", "fever-"},
		{"no fever that I know of", "fever-"},
		{"I don't ever get any really bad headache", "headache-"},
		{"I don't want to go to work all day long with this cough", "cough+"},
		{"my chest#pain doesn't hurt#pain", "pain-"},
		{"my chest#pain hurts#pain#arm but not my arm#arm", "pain+ arm-"},
		{"my arm#arm hurts#arm#pain but my chest#pain doesn't", "arm+ pain-"},
		{"no pain#chest#arm in the chest#chest or arm#arm", "chest- arm-"},
		{"never had diabetes", "diabetes-"},
		{"kein Fieber, aber Husten", "fieber- husten+"},
		{"kein Fieber und kein Husten", "fieber- husten-"},
		{"ich habe kein Fieber und ich habe Husten", "fieber- husten+"},
		{"ohne Fieber", "fieber-"},
		{"ich habe nie Kopfschmerzen", "kopfschmerzen-"},
		{"ich rauche nicht", "rauche-"},
	}.run(t)
}

func TestNegatedLists(t *testing.T) {
	sentenceTable{
		{"denies fever, cough or rash", "fever- cough- rash-"},
		{"denies fever, cough, or rash", "fever- cough- rash-"},
		{"denies fever, nausea and vomiting", "fever- nausea- vomiting-"},
		{"no fever or cough", "fever- cough-"},
		{"no fever nor cough", "fever- cough-"},
		{"no fever, no cough", "fever- cough-"},
		{"denies nausea, vomiting, cough", "nausea- vomiting- cough-"},
		{"denies nausea, vomiting, cough, no rash", "nausea- vomiting- cough- rash-"},
		{"no nausea, vomiting, cough, but a rash", "nausea- vomiting- cough- rash+"},
		{"no nausea, vomiting, bad cough", "nausea- vomiting+ cough+"},
		{"no pain, swelling or rash", "rash-"},
		{"no fever, swelling or rash", "fever- rash-"},
		{"no fever, feel rubbish and cough", "fever- cough+"},
		{"no nausea/vomiting", "nausea- vomiting-"},
		{"denies fever, cough", "fever- cough-"},
		{"denies fever, cough. rash", "fever- cough- rash+"},
		{"denies fever, a bad cough", "fever- cough+"},
		{"denies nausea/vomiting, cough", "nausea- vomiting- cough-"},
		{"denies fever, but cough", "fever- cough+"},
		{"rash w/o fever or chills", "rash+ fever- chills-"},
		{"no n#n/v#n, cough", "n- cough+"},
		{"denies heartburn, cough or rash", "cough- rash-"},
		{"I don't know what it is, fever and cough", "fever+ cough+"},
		{"I don't know what is going on, fever or cough", "fever+ cough+"},
		{"not herself, headache, cough, fever", "headache+ cough+ fever+"},
		{"denies nausea and vomiting", "nausea- vomiting-"},
		{"no fever and a cough", "fever- cough+"},
		{"no fever and my headache#head is bad", "fever- head+"},
		{"no fever or a cough", "fever- cough-"},
		{"no fever, and my cough is bad", "fever- cough+"},
		{"keine Übelkeit und Erbrechen", "übelkeit- erbrechen-"},
		{"keine Übelkeit und der Husten ist weg", "übelkeit- husten-"},
		{"keine Übelkeit und der Husten ist schlimm", "übelkeit- husten+"},
		{"no fever, cough", "fever- cough+"},
		{"no fever, a bad cough", "fever- cough+"},
		{"no fever, I have a cough", "fever- cough+"},
		{"no fever, but a cough or a rash", "fever- cough+ rash+"},
		{"no fever, I have a cough and a rash", "fever- cough+ rash+"},
		{"no fever, a really bad dry hacking cough or something", "fever- cough+"},
		{"no fever, my sister has a cough or a rash", "fever- cough? rash?"},
		{"no fever or cough, headache since monday", "fever- cough- headache+"},
		{"no fever, cough or rash, headache all the time", "fever- cough- rash- headache+"},
		{"no fever, cough or rash but nausea, chills and sweats", "fever- cough- rash- nausea+ chills+ sweats+"},
		{"neither fever nor cough", "fever+ cough-"}, // the content defines "neither" as a negation
		{"kein Fieber, Husten oder Schnupfen", "fieber- husten- schnupfen-"},
		{"kein Fieber, Husten seit gestern", "fieber- husten+"},
		{"no fever, cough nor rash", "fever- cough- rash-"},
		{"no fever, cough, chills nor rash", "fever- cough- chills- rash-"},
		{"I have a fever, cough nor rash", "fever+ cough+ rash-"},
		{"no fever, cough or anything", "fever- cough-"},
		{"no fever, cough or anything like that", "fever- cough-"},
		{"no fever, cough or anything, but a rash", "fever- cough- rash+"},
		{"no fever, cough or I would stay at home", "fever- cough+"},
		{"no fever, cough or something else that is of that kind", "fever- cough+"},
		{"no fever, cough or rash#rash, my skin#rash", "fever- cough- rash?"},
		{"kein Fieber noch Husten", "fieber- husten-"},
	}.run(t)
}

func TestPartlyNegatedMentions(t *testing.T) {
	sentenceTable{
		{"no blood#urine in the stool, the urine#urine is dark", "urine?"},
		{"no redness#red, the joint#red just hurts", "red?"},
		{"no pain#chest in the arm but in the chest#chest", "chest+"},
		{"no pain#chest in the arm. My chest#chest", "chest+"},
		{"no pain#chest in the arm or chest#chest", "chest-"},
		{"my arm#arm doesn't hurt#arm#chest, my chest#chest does", "arm- chest?"},
		{"eye#eye, no fever, red#eye", "eye+ fever-"},
	}.run(t)
}

func TestNegationBehind(t *testing.T) {
	sentenceTable{
		{"the fever is gone", "fever-"},
		{"fever absent", "fever-"},
		{"fever and cough are gone", "fever- cough-"},
		{"fever, cough, and rash: absent", "fever- cough- rash-"},
		{"headache, the fever is gone", "headache+ fever-"},
		{"headache, fever is gone", "headache+ fever-"},
		{"I have a headache but the fever is gone", "headache+ fever-"},
		{"my cough sounds better and the fever is gone", "cough+ fever-"},
		{"I have a cough and my car is gone", "cough+"},
		{"I have a cough, my car is gone", "cough+"},
		{"it's gone the fever", "fever-"},
		{"the fever is not gone", "fever+"},
		{"my eye#eye has gone blurry#eye", "eye+"},
		{"everything has gone blurry#eye", "eye+"},
		{"chest#chest and arm#arm pain#chest#arm are gone", "chest- arm-"},
		{"das Fieber ist weg", "fieber-"},
		{"das Fieber ist nicht weg", "fieber+"},
		{"Fieber und Husten sind weg", "fieber- husten-"},
		{"Husten habe ich, das Fieber ist weg", "husten+ fieber-"},
	}.run(t)
}

func TestDanglingNegation(t *testing.T) {
	sentenceTable{
		{"Fever? No.", "fever-"},
		{"Fever? No. Cough? No, none of it.", "fever- cough-"},
		{"Fever or cough? No.", "fever- cough-"},
		{"Fever, cough, chills? No.", "fever- cough- chills-"},
		{"do I have a fever? No", "fever-"},
		{"Fever? No cough.", "fever+ cough-"},
		{"I have a fever. No.", "fever+"},
		{"fever no, cough yes", "fever- cough+"},
		{"fever: no", "fever-"},
		{"cough yes fever no", "cough+ fever-"},
		{"is the headache bad or not", "headache+"},
		{"a headache, nothing else", "headache+"},
		{"Fieber habe ich nicht", "fieber-"},
		{"Fieber und Husten habe ich nicht", "fieber- husten-"},
		{"Fieber habe ich nicht, aber Husten", "fieber- husten+"},
		{"Husten, sonst nichts", "husten+"},
		{"Schnupfen, Fieber habe ich aber nicht", "schnupfen+ fieber-"},
		{"I had a fever, but now none", "fever-"},
		{"I had a fever, but now none of that cough", "fever+ cough-"},
		{"I had a fever but now the rash is gone", "fever+ rash-"},
		{"Übelkeit und Husten, Temperatur habe ich aber nicht", "übelkeit+ husten+"},
		{"die Sicht#sicht habe ich nicht verloren#sicht", "sicht-"},
		{"Husten habe ich, aber Fieber nicht", "husten+ fieber-"},
		{"Fieber nicht und Husten nicht", "fieber- husten-"},
		{"headache#head#worse, not worse#worse with walking#worse", "head+ worse-"},
		{"family-stroke, I not", "family-stroke+"},
		{"the headache means that I don't sleep", "headache+"},
		{"mein Bauch#bauch tut nicht weh#bauch", "bauch-"},
	}.run(t)
}

func TestNeutralAndDoubleNegation(t *testing.T) {
	sentenceTable{
		{"not only fever but also a cough", "fever+ cough+"},
		{"not only my fever, a cough as well", "fever+ cough+"},
		{"I can't deny a cough", "cough+"},
		{"not without fever", "fever+"},
		{"no rash, not without fever", "rash- fever+"},
		{"no idea why I have this headache", "headache+"},
		{"no doubt a fever", "fever+"},
		{"I don't have no fever", "fever-"},
		{"nicht nur Fieber, sondern auch Husten", "fieber+ husten+"},
		{"nicht ohne Fieber", "fieber+"},
		{"eating-well", "eating-well-"},
		{"not eating-well", "eating-well+"},
		{"not like I eating-well", "eating-well+"},
		{"no I eating-well", "eating-well-"},
		{"no fever and eating-well", "fever- eating-well-"},
		{"I don't#non-smoker deny that I smoke#non-smoker", "non-smoker+"},
		{"I don't#non-smoker smoke#non-smoker", "non-smoker-"},
		{"no, eating-well", "eating-well-"},
		{"afebrile, no cough", "afebrile- cough-"},
		{"not true that I have no cough", "cough+"},
		{"I don't mean that I don't have a fever or cough", "fever+ cough+"},
		{"not saying I have no fever, I have no cough", "fever+ cough-"},
		{"no I don't have a fever", "fever-"},
		{"no, I don't have a fever", "fever-"},
		{"I ain't got no fever", "fever-"},
		{"I did not go out much today I have no fever", "fever-"},
		{"not well but I have no fever", "fever-"},
		{"no cough when I have no fever", "cough- fever-"},
		{"no-appetite", "no-appetite+"},
		{"no fever and can't-sleep", "fever- can't-sleep+"},
		{"no fever, rash or no-appetite", "fever- rash- no-appetite+"},
		{"I don't have no-appetite", "no-appetite+"},
		{"can't-sleep? No.", "can't-sleep-"},
		{"der Kleine isst-gut", "isst-gut-"},
	}.run(t)
}

func TestHypotheticals(t *testing.T) {
	sentenceTable{
		{"could it be a rash?", "rash?"},
		{"could it be a rash, cough or fever?", "rash? cough? fever?"},
		{"I have a fever, could it be asthma?", "fever+ asthma?"},
		{"is it asthma? I have a cough", "asthma? cough+"},
		{"worried about diabetes, I have a headache", "diabetes? headache+"},
		{"worried about diabetes because I have a headache", "diabetes? headache+"},
		{"could it be asthma but no fever", "asthma? fever-"},
		{"do I have no fever?", "fever?"},
		{"if I get a fever I take something", "fever?"},
		{"pills to prevent nausea", "nausea?"},
		{"in case of fever or cough", "fever? cough?"},
		{"kann es Fieber sein?", "fieber?"},
		{"was tun, wenn sie Fieber hat?", "fieber?"},
		{"was tun, wenn sie Fieber hat, Husten hat sie auch", "fieber? husten+"},
		{"ich habe Angst vor Übelkeit, jetzt Husten", "übelkeit? husten+"},
		{"falls ich Fieber habe", "fieber?"},
	}.run(t)
}

func TestPast(t *testing.T) {
	sentenceTable{
		{"last year I had a fever", "fever?"},
		{"last year, I had a fever", "fever?"},
		{"I had a fever last year", "fever?"},
		{"I had a fever and a cough last year", "fever? cough?"},
		{"I had a fever, cough and rash last year", "fever? cough? rash?"},
		{"I had a fever last year and now a cough", "fever? cough+"},
		{"I had a fever last year and a cough", "fever? cough+"},
		{"I have a headache, last year I had a fever", "headache+ fever?"},
		{"I have a headache and last year I had a fever", "headache+ fever?"},
		{"last year I had a fever, I have a headache", "fever? headache+"},
		{"as a child I had asthma", "asthma+"},
		{"I used to have a headache but not now", "headache?"},
		{"last year I had a fever, cough and rash, but that is gone", "fever? cough? rash?"},
		{"I had a fever but it is gone", "fever-"},
		{"in the past no fever", "fever-"},
		{"letztes Jahr hatte ich Fieber", "fieber?"},
		{"letztes Jahr hatte ich Fieber, jetzt Husten", "fieber? husten+"},
		{"als Kind Kopfschmerzen", "kopfschmerzen?"},
	}.run(t)
}

func TestOtherExperiencers(t *testing.T) {
	sentenceTable{
		{"my father has a fever", "fever?"},
		{"my father has no fever", "fever?"},
		{"my father has a fever, cough and rash", "fever? cough? rash?"},
		{"my father has a fever, a cough", "fever? cough?"},
		{"my father has a fever and I have a cough", "fever? cough+"},
		{"my father has a fever, I have a cough", "fever? cough+"},
		{"my father has a fever but I have none", "fever?"},
		{"my father has a fever. Headache since monday", "fever? headache+"},
		{"a cough, my wife has it too", "cough+"},
		{"my son has a fever", "fever+"},
		{"my sister has a cough, my son a fever", "cough? fever+"},
		{"family-stroke and my father has diabetes", "family-stroke+ diabetes?"},
		{"my father had family-diabetes", "family-diabetes+"},
		{"my father never had family-diabetes", "family-diabetes-"},
		{"mein Vater hat Fieber, ich Husten", "fieber? husten+"},
		{"meine Schwester hat Husten und mein Sohn Fieber", "husten? fieber+"},
	}.run(t)
}

// TestFamilyHistoryList checks that persistent conditions listed with a relative's
// illness are the relative's.
func TestFamilyHistoryList(t *testing.T) {
	sentenceTable{
		{"family-stroke and diabetes", "family-stroke+ diabetes?"},
		{"diabetes and family-stroke", "diabetes+ family-stroke+"},
		{"family-stroke, asthma and diabetes", "family-stroke+ asthma? diabetes?"},
		{"family-stroke, asthma, diabetes", "family-stroke+ asthma+ diabetes+"},
		{"family-stroke, diabetes", "family-stroke+ diabetes+"},
		{"family-stroke. diabetes", "family-stroke+ diabetes+"},
		{"family-stroke and I smoke", "family-stroke+ smoke+"},
		{"family-stroke and a present smoke", "family-stroke+ smoke+"},
		{"family-stroke and headache", "family-stroke+ headache+"},
		{"no family-stroke or diabetes", "family-stroke- diabetes?"},
		{"diabetes, gout#gout and family#kin-stroke a stroke#kin-stroke", "diabetes+ gout+ kin-stroke+"},
		{"father#kin-stroke had diabetes and a stroke#kin-stroke", "kin-stroke+ diabetes?"},
		{"family-stroke in one two three four five six seven eight nine diabetes", "family-stroke+ diabetes+"},
	}.run(t)
}

// TestMentionStartsStatement checks that a mention whose wording begins with the
// patient starts a statement.
func TestMentionStartsStatement(t *testing.T) {
	sentenceTable{
		{"kein Fieber und mir#self-sick ist schlecht#self-sick", "fieber- self-sick+"},
		{"kein Fieber oder mir#self-sick ist schlecht#self-sick", "fieber- self-sick+"},
		{"kein Fieber und mir#sick ist schlecht#sick", "fieber- sick-"},
		{"kein Fieber und mir#self-sick ist schlecht#self-sick und Husten", "fieber- self-sick+ husten+"},
		{"could it be fever and mir#self-sick ist schlecht#self-sick", "fever? self-sick+"},
		{"was tun, mir#self-sick ist schlecht#self-sick", "self-sick?"},
		{"family-stroke and mir#self-sick ist schlecht#self-sick and diabetes", "family-stroke+ self-sick+ diabetes+"},
	}.run(t)
}

// TestRelativeAsPatient checks that a relative is the patient if the writer reports no
// findings of their own.
func TestRelativeAsPatient(t *testing.T) {
	sentenceTable{
		{"dad has a fever", "fever+"},
		{"I think dad has a fever and a cough", "fever+ cough+"},
		{"calling about gran, fever, cough, chills", "fever+ cough+ chills+"},
		{"dad has no fever but a cough", "fever- cough+"},
		{"Onkel hat Fieber und Husten", "fieber+ husten+"},
		{"dad has a fever. I don't have a cough", "fever+ cough-"},
		{"dad has a fever. Could it be a rash?", "fever+ rash?"},
		{"last year dad had a fever", "fever?"},
		// The writer is the patient.
		{"I have a cough and dad has a fever", "cough+ fever?"},
		{"dad has a fever. I have a cough", "fever? cough+"},
		{"dad has a fever, sleepless#self-nights", "fever? self-nights+"},
		// Family history.
		{"dad has diabetes", "diabetes?"},
		{"dad has diabetes, could it be gout?", "diabetes? gout?"},
		{"dad has diabetes and a fever", "diabetes+ fever+"},
		{"gran took an overdose", "overdose+"},
		{"sister#kin-fits had a seizure#kin-fits#hers-seizure", "kin-fits+ hers-seizure+"},
		{"sister#kin-fits had a seizure#kin-fits#hers-seizure, I have a cough", "kin-fits+ hers-seizure? cough+"},
		{"my father has a fever", "fever?"}, // cannot be the patient
	}.run(t)
}

// TestUnderstatementDoesNotNegate checks that playing a symptom down does not negate
// it.
func TestUnderstatementDoesNotNegate(t *testing.T) {
	sentenceTable{
		{"fever, it's nothing", "fever+"},
		{"fever nothing", "fever+"},
		{"fever, nothing", "fever+"},
		{"fever but nothing", "fever+"},
		{"fever, no problem", "fever+"},
		{"nothing, fever or cough", "fever+ cough+"},
		{"nothing like fever", "fever-"},
		{"fever? nothing", "fever-"},
		{"Fieber, nichts", "fieber+"},
		{"fever, none", "fever-"},
		{"fever, but it's none", "fever-"},
	}.run(t)
}

func TestNegatingPrefixes(t *testing.T) {
	sentenceTable{
		{"non - cough fever", "cough- fever+"},
		{"fever non cough", "fever+ cough-"},
		{"non bloody fever", "fever+"},
	}.run(t)
}
