// SPDX-License-Identifier: Apache-2.0

package context

import (
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/anamnesis-dev/anamnesis/apiserver/model"
)

// cueWords is a small lexicon of cues in English and German, as content has
// them, so that the tables read as people write.
var cueWords = map[model.Meaning][]string{
	model.CueNegates: {
		"no", "not", "don't", "doesn't", "didn't", "isn't", "aren't", "never", "nor", "deny", "ain't", "without", "haven't",
		"kein", "keine", "keinen", "nicht", "nie", "ohne",
	},
	model.CueNegatesBefore: {"absent", "negative", "is gone", "are gone", "none", "gone", "ist weg", "sind weg", "weg"},
	model.CueNeutral:       {"not only", "not sure why", "no idea why", "no doubt", "nicht nur", "nothing else", "sonst nichts"},
	model.CueAffirms:       {"can't deny", "not without", "kann nicht leugnen", "nicht ohne"},
	model.CueEnds:          {"but", "however", "except", "just", "because", "now", "aber", "sondern", "außer", "jetzt", "weil"},
	model.CueJoins:         {"or", "nor", "neither", "oder", "noch"},
	model.CueAdds:          {"and", "und"},
	model.CueQuestions:     {"could it be", "is it", "do i have", "worried about", "should i worry about", "kann es", "angst vor", "was tun"},
	model.CueHypotheticals: {"if i get", "in case of", "to prevent", "falls ich", "gegen"},
	model.CuePast:          {"last year", "used to have", "as a child", "in the past", "letztes jahr", "als kind"},
	model.CueOthers:        {"my father", "my sister", "my neighbour", "my wife", "mein vater", "meine schwester"},
	model.CuePatients:      {"my son", "she", "mein sohn"},
	model.CueWriters:       {"i", "ich"},
	model.CueRelatives:     {"dad", "gran", "onkel"},
	model.CueNegatesList:   {"denies", "w / o"},
	model.CueNegatesAhead:  {"nothing", "no problem", "nichts"},
	model.CueNegatesWord:   {"non"},
}

// mentionWords are the mentions that a single word makes.
var mentionWords = strings.Fields(`fever cough headache nausea vomiting rash chills sweats cramps
	fieber husten schnupfen kopfschmerzen übelkeit erbrechen ausschlag`)

// riskWords are those of risk factors, alarmWords of those that are serious,
// relativeWords those that name a relative
// themselves, absentWords those that say of something that it is absent, and
// denyingWords those of what is present and hold a denial.
var (
	riskWords     = []string{"diabetes", "asthma", "smoke", "gout", "rauche"}
	alarmWords    = []string{"overdose"}
	relativeWords = []string{"family-stroke", "family-diabetes"}
	absentWords   = []string{"eating-well", "afebrile", "isst-gut"}
	denyingWords  = []string{"no-appetite", "can't-sleep"}
)

var fillerWords = strings.Fields("- a the my any of in had have has with it it's me is are was habe hatte hat der die das mir")

// A reading is a text with what its test-only lexicon finds.
type reading struct {
	Sentence
	words    []string
	subjects []Subject
	names    []string // of the subjects
}

// read finds words and cues, longest first, and the mentions: the words of the
// lists above, and any word with # and a name, which the words of one mention
// share: "my chest#pain doesn't hurt#pain". A word may end in several names;
// what a name with non- mentions is said to be absent, kin- is of a relative in its
// own words, hers- in those of another mention, and self-
// begins a statement of the writer's.
func read(text string) reading {
	r := reading{words: split(text)}
	r.Tokens = len(r.words)
	for _, word := range r.words {
		r.Ends = append(r.Ends, strings.ContainsAny(word, ".!?;—"))
		r.Asks = append(r.Asks, word == "?")
		r.Commas = append(r.Commas, word == "," || word == ":")
		r.Links = append(r.Links, word == "/")
		r.Fillers = append(r.Fillers, slices.Contains(fillerWords, word))
	}
	r.findMentions()
	r.findCues()
	return r
}

func split(text string) []string {
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

func (r *reading) findMentions() {
	for i, word := range r.words {
		base, marks, _ := strings.Cut(word, "#")
		r.words[i] = base
		switch {
		case marks != "":
			for mark := range strings.SplitSeq(marks, "#") {
				r.mention(mark, i)
			}
		case slices.Contains(slices.Concat(mentionWords, riskWords, alarmWords, relativeWords, absentWords, denyingWords), word):
			r.names = append(r.names, word)
			r.subjects = append(r.subjects, Subject{
				Positions:  []int{i},
				RiskFactor: slices.Contains(slices.Concat(riskWords, relativeWords, alarmWords), word),
				Alarm:      slices.Contains(alarmWords, word),
				Relative:   slices.Contains(relativeWords, word),
				SaidAbsent: slices.Contains(absentWords, word),
				Denies:     slices.Contains(denyingWords, word),
			})
		}
	}
}

func (r *reading) mention(name string, position int) {
	if at := slices.Index(r.names, name); at >= 0 {
		r.subjects[at].Positions = append(r.subjects[at].Positions, position)
		return
	}
	r.names = append(r.names, name)
	relative := strings.HasPrefix(name, "kin-")
	r.subjects = append(r.subjects, Subject{
		Positions: []int{position}, SaidAbsent: strings.HasPrefix(name, "non-"),
		RiskFactor: relative, Relative: relative, Begins: strings.HasPrefix(name, "self-"),
		Writer: strings.HasPrefix(name, "self-"), Kin: strings.HasPrefix(name, "hers-"),
	})
}

func (r *reading) findCues() {
	taken := make([]bool, len(r.words))
	for _, s := range r.subjects {
		for _, p := range s.Positions {
			taken[p] = true
		}
	}
	for i := 0; i < len(r.words); i++ {
		longest := Cue{To: i}
		for _, kind := range slices.Sorted(maps.Keys(cueWords)) {
			for _, phrase := range cueWords[kind] {
				words := strings.Fields(phrase)
				to := i + len(words)
				if to > longest.To && to <= len(r.words) && slices.Equal(r.words[i:to], words) && !slices.Contains(taken[i:to], true) {
					longest = Cue{Kind: kind, From: i, To: to, Joins: slices.Contains(cueWords[model.CueJoins], phrase)}
				}
			}
		}
		if longest.To > i {
			r.Cues = append(r.Cues, longest)
			i = longest.To - 1
		}
	}
}

// judged shows every mention with its verdict: + present, - absent, ? unsaid.
func (r reading) judged() string {
	var shown []string
	for i, verdict := range Judge(r.Sentence, r.subjects) {
		shown = append(shown, r.names[i]+string("+-?"[verdict]))
	}
	return strings.Join(shown, " ")
}
