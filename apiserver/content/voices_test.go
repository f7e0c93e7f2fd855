// SPDX-License-Identifier: Apache-2.0

package content_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/anamnesis-dev/anamnesis/apiserver/content/compiled"
	"github.com/anamnesis-dev/anamnesis/apiserver/language"
	"github.com/anamnesis-dev/anamnesis/apiserver/model"
)

// A voices is how alarms are told in a language: who tells of whom, the danger,
// the verb between, and how it is played down.
type voices struct {
	language string
	// speakers begin the sentence with the one who is ill.
	speakers []speaker
	// having take an alarm that is a thing, being one that is a state.
	having []string
	things map[string]string // an alarm and the slug of what must be heard, or of what is below it
	states map[string]string
	// before and after play it down; %s is the sentence.
	played []string
}

type speaker struct {
	text string
	age  int // in years
}

var englishVoices = voices{
	language: "en",
	speakers: []speaker{
		{"dad", 61}, {"my mum", 67}, {"my sister", 33}, {"my brother", 19}, {"grandma", 84}, {"my grandfather", 79}, {"my uncle", 55}, {"our neighbour", 70},
		{"my friend", 25}, {"a colleague", 44}, {"I think my dad", 61}, {"I'm calling about my nan, she", 88}, {"I'm calling about my mother who", 58},
		{"my cousin", 16}, {"my aunt", 50}, {"my wife", 36}, {"my husband", 41}, {"my daughter", 6}, {"the patient", 50}, {"my flatmate", 22}, {"his mother", 66},
	},
	having: []string{
		"has", "has got", "has had", "is having", "suddenly has", "woke up with", "complains of", "keeps getting", "suffers from", "is suffering from", "has been having",
		"started having", "came home with", "is lying here with", "says she has", "is struggling with", "feels", "called me with", "is on the sofa with", "developed",
	},
	things: map[string]string{
		"chest pain": "chest_pain", "a crushing pain in the chest": "chest_pain", "bad chest pain going into the left arm": "chest_pain",
		"the worst headache of her life": "headache_thunderclap", "a stiff neck and a high fever": "neck_stiffness", "trouble breathing": "shortness_of_breath",
		"shortness of breath": "shortness_of_breath", "blood in the stool": "blood_on_stool|blood_mixed_with_stool|rectal_bleeding_heavy", "black tarry stools": "black_stools", "severe belly pain": "abdominal_pain",
		"a rash that doesn't fade": "rash_not_fading", "swelling of the tongue": "tongue_or_lip_swelling|tongue_swelling", "slurred speech": "speech_difficulty",
		"numbness in the left arm": "numbness_one_side|tingling_hands_feet|hand_numbness|arm_tingling", "weakness on one side": "weakness_one_side", "palpitations": "palpitations", "confusion": "confusion|confusion_after_event",
		"a seizure": "seizure", "sudden loss of vision": "vision_loss", "double vision": "double_vision", "a cold sweat": "cold_sweats",
		"pain in one calf and swelling of the leg": "leg_swelling_one_side",
	},
	states: map[string]string{
		"can't breathe": "shortness_of_breath|not_breathing", "is coughing up blood": "coughing_blood", "is vomiting blood": "vomiting_blood", "has collapsed": "fainting",
		"is very confused": "confusion", "fainted": "fainting", "won't wake up": "hard_to_wake", "is hard to wake": "hard_to_wake", "wants to die": "suicidal_thoughts",
		"took an overdose": "overdose_on_purpose", "can't move one arm": "weakness_one_side|arm_cannot_lift", "can't speak properly": "speech_difficulty", "is sweating and grey": "cold_sweats",
		"keeps throwing up": "vomiting", "has gone blue around the lips": "blue_lips", "is short of breath": "shortness_of_breath",
		"says his chest hurts": "chest_pain",
	},
	played: []string{
		"%s", "%s, it's nothing", "%s, probably nothing", "%s but it's nothing", "%s, nothing serious", "%s, no big deal", "%s, nothing to worry about", "it's probably nothing but %s",
		"%s, it's not that bad", "%s. It's nothing really", "I don't want to bother anyone but %s", "%s, but I'm sure it's fine", "nothing much, %s", "%s, not too bad though",
		"%s, I don't think it's serious", "%s, no problem", "no emergency, %s", "%s, we are not worried", "%s, don't worry", "sorry to bother you, it's nothing, %s",
	},
}

// Whoever writes for somebody else, with whatever verb and however calmly, is
// heard: no alarm is lost, and none denied. Some ten thousand sentences, and two
// thousand where the race detector slows them down.
func TestNoAlarmIsLost(t *testing.T) {
	t.Parallel()
	for _, v := range []voices{englishVoices} {
		t.Run(v.language, func(t *testing.T) {
			t.Parallel()
			r, err := compiled.Release(v.language)
			if err != nil {
				t.Fatal(err)
			}
			lost := map[string]int{}
			w := openWard(t)
			for _, told := range v.sentences(voiced) {
				if fault := w.unheard(r, told); fault != "" {
					lost[fault+" "+told.slug]++
					if len(lost) < 40 || lost[fault+" "+told.slug] == 1 {
						t.Errorf("%q %s %s", told.text, fault, told.slug)
					}
				}
			}
		})
	}
}

const voiced = 10_000

// A told is an alarm in a sentence.
type told struct {
	text, slug string
	age        int
}

// sentences draws so many of all that the voices can say, the same each time.
func (v voices) sentences(count int) []told {
	random := rand.New(rand.NewPCG(1, 1))
	pick := func(list []string) string { return list[random.IntN(len(list))] }
	things, states := sortedKeys(v.things), sortedKeys(v.states)
	all := make([]told, count)
	for i := range all {
		who := v.speakers[random.IntN(len(v.speakers))]
		alarm := random.IntN(len(things) + len(states))
		said, slug := "", ""
		if alarm < len(things) {
			said, slug = pick(v.having)+" "+things[alarm], v.things[things[alarm]]
		} else {
			said, slug = states[alarm-len(things)], v.states[states[alarm-len(things)]]
		}
		all[i] = told{text: fmt.Sprintf(pick(v.played), who.text+" "+said), slug: slug, age: who.age}
	}
	return all
}

func sortedKeys(m map[string]string) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

// unheard says what is wrong with how an alarm is understood, and nothing when it
// is heard, or what is below it.
func (w ward) unheard(r *model.Release, s told) string {
	var alarms []model.ObservationIndex
	for slug := range strings.SplitSeq(s.slug, "|") {
		if alarm, ok := r.ObservationByID(w.registry[slug]); ok {
			alarms = append(alarms, alarm)
		}
	}
	fault := "loses"
	mentions := language.Parse(r, language.Query{Text: s.text, AgeMonths: s.age * 12, Symptoms: true, RiskFactors: true}).Mentions
	for _, m := range mentions {
		for o := m.Observation; o != model.None; o = r.Observations[o].Parent {
			if !m.Absent && slices.Contains(alarms, o) {
				return ""
			}
		}
		if m.Absent {
			fault = "denies (" + strings.ReplaceAll(r.Text(r.Observations[m.Observation].CommonName), " ", "_") + ")"
		}
	}
	return fault
}
