// SPDX-License-Identifier: Apache-2.0

package modeltest

import (
	"strings"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
)

// The words in the names of synthetic concepts. They are medically meaningless, but
// distributed like real words: many concepts share each word, each concept has
// professional and plain wordings, and no two concepts share a wording.

// A complaint is a problem that any part of the body may have.
type complaint struct{ professional, plain, verb string }

var complaints = []complaint{
	{"oedema", "swelling", "is swollen"}, {"pruritus", "itching", "itches"}, {"paraesthesia", "tingling", "tingles"},
	{"hypoaesthesia", "numbness", "feels numb"}, {"erythema", "redness", "is red"}, {"haematoma", "bruise", "is bruised"},
	{"tremor", "shaking", "shakes"}, {"spasm", "cramp", "cramps"}, {"paresis", "weakness", "is weak"},
	{"rigidity", "stiffness", "is stiff"}, {"ulceration", "open sore", "has an open sore"}, {"desquamation", "peeling skin", "is peeling"},
	{"hyperhidrosis", "sweating", "sweats"}, {"haemorrhage", "bleeding", "bleeds"}, {"suppuration", "pus", "oozes pus"},
	{"burning pain", "burning", "burns"}, {"dull pain", "ache", "aches"}, {"stabbing pain", "stabbing", "stabs"},
	{"colicky pain", "pain in waves", "hurts in waves"}, {"throbbing pain", "throbbing", "throbs"}, {"pressure pain", "pressure", "feels squeezed"},
	{"exanthema", "rash", "has a rash"}, {"nodule", "lump", "has a lump"}, {"cyanosis", "blue colour", "turns blue"},
	{"pallor", "pale colour", "is pale"}, {"atrophy", "wasting", "gets thinner"}, {"crepitation", "crackling", "crackles"},
	{"laceration", "cut", "is cut"}, {"deformity", "odd shape", "looks bent"}, {"hypothermia", "coldness", "is cold"},
}

// A namePair is the professional and the plain name of a body part.
type namePair struct{ professional, plain string }

var bodyParts = []namePair{
	{"abdomen", "belly"}, {"thorax", "chest"}, {"cranium", "head"}, {"cervical region", "neck"}, {"lumbar region", "lower back"},
	{"upper dorsal region", "upper back"}, {"shoulder", "shoulder"}, {"axilla", "armpit"}, {"upper arm", "upper arm"}, {"elbow", "elbow"},
	{"forearm", "forearm"}, {"carpus", "wrist"}, {"palm", "palm"}, {"digits", "fingers"}, {"pollex", "thumb"},
	{"nail bed", "fingernail"}, {"hip", "hip"}, {"inguinal region", "groin"}, {"gluteal region", "buttock"}, {"femoral region", "thigh"},
	{"patella", "kneecap"}, {"knee", "knee"}, {"crus", "shin"}, {"calf", "calf"}, {"malleolus", "ankle"},
	{"calcaneus", "heel"}, {"plantar region", "sole of the foot"}, {"hallux", "big toe"}, {"lesser toes", "toes"}, {"dorsum of the foot", "top of the foot"},
	{"orbit", "eye"}, {"eyelid", "eyelid"}, {"nose", "nose"}, {"paranasal sinuses", "sinuses"}, {"auricle", "ear"},
	{"auditory canal", "ear canal"}, {"lip", "lip"}, {"gingiva", "gums"}, {"dentition", "teeth"}, {"lingua", "tongue"},
	{"buccal mucosa", "inside of the cheek"}, {"mandible", "jaw"}, {"chin", "chin"}, {"forehead", "forehead"}, {"temporal region", "temple"},
	{"occiput", "back of the head"}, {"scalp", "scalp"}, {"pharynx", "throat"}, {"tonsils", "tonsils"}, {"trachea", "windpipe"},
	{"breast", "breast"}, {"epigastrium", "pit of the stomach"}, {"right hypochondrium", "right side under the ribs"}, {"left hypochondrium", "left side under the ribs"}, {"umbilicus", "belly button"},
	{"suprapubic region", "bladder area"}, {"perineum", "perineum"}, {"anus", "anus"}, {"genital region", "private parts"}, {"flank", "side of the body"},
}

// sides distinguishes concepts after all pairs of complaint and body part are used.
var sides = []string{"", "left ", "right ", "whole "}

// complaintFor returns the complaint, body part and side of an observation.
func complaintFor(i int) (c complaint, p namePair, side string) {
	c = complaints[i%len(complaints)]
	p = bodyParts[i/len(complaints)%len(bodyParts)]
	return c, p, sides[i/len(complaints)/len(bodyParts)%len(sides)]
}

// nameSymptom sets the five wordings of a symptom.
func nameSymptom(o *model.DraftObservation) {
	c, p, side := complaintFor(int(o.Number) - 1)
	o.Name = capitalize(c.professional) + " of the " + side + p.professional
	o.CommonName = capitalize(c.plain) + " of the " + side + p.plain
	o.Synonyms = []string{
		side + p.plain + " " + c.plain,
		"my " + side + p.plain + " " + c.verb,
		pseudoword(int(o.Number)) + " in my " + side + p.plain,
	}
	o.Question = "Do you have " + c.plain + " of the " + side + p.plain + "?"
	o.QuestionThirdPerson = "Do they have " + c.plain + " of the " + side + p.plain + "?"
}

// nameRiskFactor sets the four wordings of a risk factor.
func nameRiskFactor(o *model.DraftObservation) {
	c, p, side := complaintFor(int(o.Number) - 1)
	o.Name = "History of " + c.professional + " of the " + side + p.professional
	o.CommonName = "Earlier " + c.plain + " of the " + side + p.plain
	o.Synonyms = []string{"past " + c.plain + " of the " + side + p.plain, "once had " + c.plain + " in my " + side + p.plain}
	o.Question = "Have you ever had " + c.plain + " of the " + side + p.plain + "?"
	o.QuestionThirdPerson = "Have they ever had " + c.plain + " of the " + side + p.plain + "?"
}

var (
	diseaseTypes = []namePair{
		{"acute", "sudden"}, {"chronic", "long-lasting"}, {"recurrent", "repeated"}, {"viral", "viral"}, {"bacterial", "bacterial"},
		{"allergic", "allergic"}, {"autoimmune", "autoimmune"}, {"drug-induced", "drug-related"}, {"traumatic", "injury-related"}, {"idiopathic", "unexplained"},
		{"congenital", "inborn"}, {"obstructive", "blocking"}, {"haemorrhagic", "bleeding"}, {"ischaemic", "poorly supplied"}, {"neoplastic", "tumour-related"},
		{"toxic", "poisoning-related"}, {"fungal", "fungal"}, {"parasitic", "parasitic"}, {"atrophic", "shrinking"}, {"metabolic", "metabolism-related"},
		{"mycobacterial", "tuberculous"}, {"granulomatous", "nodular"}, {"radiation-induced", "radiation-related"}, {"senile", "age-related"}, {"juvenile", "childhood"},
	}
	organs = []namePair{
		{"gastritis", "stomach"}, {"hepatitis", "liver"}, {"nephritis", "kidney"}, {"cystitis", "bladder"}, {"pneumonitis", "lung"},
		{"myocarditis", "heart muscle"}, {"pericarditis", "heart sac"}, {"arthritis", "joint"}, {"dermatitis", "skin"}, {"encephalitis", "brain"},
		{"meningitis", "meninges"}, {"neuritis", "nerve"}, {"otitis", "ear"}, {"rhinitis", "nose"}, {"sinusitis", "sinus"},
		{"pharyngitis", "throat"}, {"laryngitis", "voice box"}, {"bronchitis", "airway"}, {"pleuritis", "lung lining"}, {"colitis", "bowel"},
		{"appendicitis", "appendix"}, {"pancreatitis", "pancreas"}, {"cholecystitis", "gallbladder"}, {"prostatitis", "prostate"}, {"myositis", "muscle"},
		{"tendinitis", "tendon"}, {"bursitis", "bursa"}, {"osteitis", "bone"}, {"spondylitis", "spine"}, {"uveitis", "eye"},
		{"conjunctivitis", "eye surface"}, {"keratitis", "cornea"}, {"blepharitis", "eyelid"}, {"stomatitis", "mouth"}, {"gingivitis", "gum"},
		{"thyroiditis", "thyroid"}, {"vasculitis", "blood vessel"}, {"phlebitis", "vein"}, {"lymphadenitis", "lymph node"}, {"mastitis", "breast"},
	}
	labAnalytes = []namePair{
		{"Sodium", "salt"}, {"Potassium", "potassium"}, {"Calcium", "calcium"}, {"Creatinine", "kidney value"}, {"Urea", "urea"},
		{"Glucose", "blood sugar"}, {"Haemoglobin", "red blood"}, {"Leukocytes", "white blood cells"}, {"Thrombocytes", "platelets"}, {"C-reactive protein", "inflammation value"},
		{"Alanine transaminase", "liver value"}, {"Bilirubin", "bile"}, {"Lipase", "pancreas value"}, {"Thyrotropin", "thyroid value"}, {"Ferritin", "iron store"},
		{"Troponin", "heart value"}, {"D-dimer", "clotting value"}, {"Lactate", "lactate"}, {"Uric acid", "uric acid"}, {"Albumin", "albumin"},
	}
)

// nameCondition sets the four wordings of a condition.
func nameCondition(c *model.DraftCondition) {
	i := int(c.Number) - 1
	course, organ := diseaseTypes[i%len(diseaseTypes)], organs[i/len(diseaseTypes)%len(organs)]
	side := sides[i/len(diseaseTypes)/len(organs)%len(sides)]
	c.Name = capitalize(side + course.professional + " " + organ.professional)
	c.CommonName = capitalize(side + course.plain + " inflammation of the " + organ.plain)
	c.Synonyms = []string{side + course.plain + " " + organ.plain + " disease", capitalize(pseudoword(1<<11+i)) + "'s disease"}
}

var syllables = []string{"bar", "con", "del", "fer", "gan", "hol", "jum", "kes", "lim", "mor", "nav", "pol", "ris", "sut", "tev", "wig"}

// pseudoword returns a word of three syllables that few concepts share, similar to
// proper names and dialect words. There are 4096 such words.
func pseudoword(i int) string {
	const last = 1<<4 - 1
	return syllables[i&last] + syllables[i>>4&last] + syllables[i>>8&last]
}

// nameLabTest names a laboratory test and its results.
func nameLabTest(t *model.DraftLabTest) {
	words := labAnalytes[(int(t.Number)-1)%len(labAnalytes)]
	round := strings.Repeat(" again", (int(t.Number)-1)/len(labAnalytes))
	t.Name, t.CommonName, t.Category = words.professional+round, capitalize(words.plain)+round, "Blood"
	for _, o := range t.Results {
		level := strings.ReplaceAll(o.LabResult.String(), "_", " ")
		o.Name = words.professional + round + ", " + level
		o.CommonName = capitalize(level + " " + words.plain + round)
		o.Synonyms = []string{words.plain + round + " " + level, level + " level of " + words.plain + round}
	}
}

func capitalize(words string) string { return strings.ToUpper(words[:1]) + words[1:] }
