// SPDX-License-Identifier: Apache-2.0

package scope

import (
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/anamnesis-dev/anamnesis/apiserver/medical/model"
)

// cueWords is a small lexicon of English and German cues, as in the content, so that
// the test tables are readable text.
var cueWords = map[model.Meaning][]string{
	model.CueNegation: {
		"no", "not", "don't", "doesn't", "didn't", "isn't", "aren't", "never", "nor", "deny", "ain't", "without", "haven't",
		"kein", "keine", "keinen", "nicht", "nie", "ohne",
	},
	model.CuePostNegation:     {"absent", "negative", "is gone", "are gone", "none", "gone", "ist weg", "sind weg", "weg"},
	model.CueNeutral:          {"not only", "not sure why", "no idea why", "no doubt", "nicht nur", "nothing else", "sonst nichts"},
	model.CueAffirmation:      {"can't deny", "not without", "kann nicht leugnen", "nicht ohne"},
	model.CueTermination:      {"but", "however", "except", "just", "because", "now", "aber", "sondern", "außer", "jetzt", "weil"},
	model.CueConjunction:      {"or", "nor", "neither", "oder", "noch"},
	model.CueAddition:         {"and", "und"},
	model.CueQuestion:         {"could it be", "is it", "do i have", "worried about", "should i worry about", "kann es", "angst vor", "was tun"},
	model.CueHypothetical:     {"if i get", "in case of", "to prevent", "falls ich", "gegen"},
	model.CueHistorical:       {"last year", "used to have", "as a child", "in the past", "letztes jahr", "als kind"},
	model.CueOtherExperiencer: {"my father", "my sister", "my neighbour", "my wife", "mein vater", "meine schwester"},
	model.CuePatient:          {"my son", "she", "mein sohn"},
	model.CueWriter:           {"i", "ich"},
	model.CueRelative:         {"dad", "gran", "onkel"},
	model.CueListNegation:     {"denies", "w / o"},
	model.CueForwardNegation:  {"nothing", "no problem", "nichts"},
	model.CueWordNegation:     {"non"},
}

// mentionWords are single words that are mentions.
var mentionWords = strings.Fields(`fever cough headache nausea vomiting rash chills sweats cramps
	fieber husten schnupfen kopfschmerzen übelkeit erbrechen ausschlag`)

// riskWords are mentions of risk factors, seriousWords of serious ones, relativeWords
// name a relative themselves, absentWords state an absence, and negatedWords are
// present mentions that contain a negation.
var (
	riskWords     = []string{"diabetes", "asthma", "smoke", "gout", "rauche"}
	seriousWords  = []string{"overdose"}
	relativeWords = []string{"family-stroke", "family-diabetes"}
	absentWords   = []string{"eating-well", "afebrile", "isst-gut"}
	negatedWords  = []string{"no-appetite", "can't-sleep"}
)

var fillerWords = strings.Fields("- a the my any of in had have has with it it's me is are was habe hatte hat der die das mir")

// An annotatedText is a text with the cues and mentions found by the test lexicon.
type annotatedText struct {
	Sentence
	words    []string
	mentions []Mention
	names    []string // by mention
}

// annotate finds cues, longest first, and mentions: the words of the lists above, and
// any word with # and a name, which all words of one mention share: "my chest#pain
// doesn't hurt#pain". A word may have several names. The prefix non- marks a mention
// that states an absence, kin- one that names a relative itself, hers- one whose
// relative another mention names, and self- one that starts a statement of the writer.
func annotate(text string) annotatedText {
	r := annotatedText{words: splitWords(text)}
	r.Tokens = len(r.words)
	for _, word := range r.words {
		r.ClauseEnds = append(r.ClauseEnds, strings.ContainsAny(word, ".!?;—"))
		r.QuestionMarks = append(r.QuestionMarks, word == "?")
		r.Commas = append(r.Commas, word == "," || word == ":")
		r.Links = append(r.Links, word == "/")
		r.Fillers = append(r.Fillers, slices.Contains(fillerWords, word))
	}
	r.findMentions()
	r.findCues()
	return r
}

func splitWords(text string) []string {
	var b strings.Builder
	for _, c := range strings.ToLower(text) {
		if unicode.IsPunct(c) && !strings.ContainsRune("'-#", c) {
			b.WriteString(" " + string(c) + " ")
			continue
		}
		b.WriteRune(c)
	}
	return strings.Fields(b.String())
}

func (t *annotatedText) findMentions() {
	for i, word := range t.words {
		base, marks, _ := strings.Cut(word, "#")
		t.words[i] = base
		switch {
		case marks != "":
			for mark := range strings.SplitSeq(marks, "#") {
				t.addMention(mark, i)
			}
		case slices.Contains(slices.Concat(mentionWords, riskWords, seriousWords, relativeWords, absentWords, negatedWords), word):
			t.names = append(t.names, word)
			t.mentions = append(t.mentions, Mention{
				Positions:     []int{i},
				RiskFactor:    slices.Contains(slices.Concat(riskWords, relativeWords, seriousWords), word),
				IsSerious:     slices.Contains(seriousWords, word),
				NamesRelative: slices.Contains(relativeWords, word),
				StatesAbsence: slices.Contains(absentWords, word),
				HasNegation:   slices.Contains(negatedWords, word),
			})
		}
	}
}

func (t *annotatedText) addMention(name string, position int) {
	if at := slices.Index(t.names, name); at >= 0 {
		t.mentions[at].Positions = append(t.mentions[at].Positions, position)
		return
	}
	t.names = append(t.names, name)
	relative := strings.HasPrefix(name, "kin-")
	t.mentions = append(t.mentions, Mention{
		Positions: []int{position}, StatesAbsence: strings.HasPrefix(name, "non-"),
		RiskFactor: relative, NamesRelative: relative, StartsStatement: strings.HasPrefix(name, "self-"),
		NamesWriter: strings.HasPrefix(name, "self-"), OfRelative: strings.HasPrefix(name, "hers-"),
	})
}

func (t *annotatedText) findCues() {
	taken := make([]bool, len(t.words))
	for _, s := range t.mentions {
		for _, p := range s.Positions {
			taken[p] = true
		}
	}
	for i := 0; i < len(t.words); i++ {
		longest := Cue{To: i}
		for _, kind := range slices.Sorted(maps.Keys(cueWords)) {
			for _, phrase := range cueWords[kind] {
				words := strings.Fields(phrase)
				to := i + len(words)
				if to > longest.To && to <= len(t.words) && slices.Equal(t.words[i:to], words) && !slices.Contains(taken[i:to], true) {
					longest = Cue{Kind: kind, From: i, To: to, IsConjunction: slices.Contains(cueWords[model.CueConjunction], phrase)}
				}
			}
		}
		if longest.To > i {
			t.Cues = append(t.Cues, longest)
			i = longest.To - 1
		}
	}
}

// formatAssertions formats each mention with its assertion: + present, - absent, ?
// unasserted.
func (t annotatedText) formatAssertions() string {
	var shown []string
	for i, verdict := range Resolve(t.Sentence, t.mentions) {
		shown = append(shown, t.names[i]+string("+-?"[verdict]))
	}
	return strings.Join(shown, " ")
}
