// SPDX-License-Identifier: Apache-2.0

package feedback

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The lists in the specification of /interviews/feedback, independent of those in the
// code.
const (
	specTypes         = "self_treatment_at_home consultation urgent_care_center emergency_care not_sure unknown custom"
	specChannels      = "in_person provider_application chat audio video not_sure custom"
	specConsultation  = "primary_care_physician nurse physiotherapist psychologist dietician specialist_doctor custom not_sure"
	specEmergencyCare = "with_ambulance without_ambulance custom not_sure"
	testedWords       = specTypes + " " + specChannels + " " + specConsultation + " " + specEmergencyCare + " elsewhere Custom"
)

// uniqueWords returns the distinct words of a list.
func uniqueWords(lists ...string) []string {
	all := strings.Fields(strings.Join(lists, " "))
	slices.Sort(all)
	return slices.Compact(all)
}

// labelFor returns a label if the category requires one.
func labelFor(word string) string {
	if word == "custom" {
		return "a friend"
	}
	return ""
}

// errorField returns the field that an error names, or "" without an error.
func errorField(t *testing.T, err error) string {
	t.Helper()
	var invalid *ValidationError
	if err != nil && !errors.As(err, &invalid) {
		t.Fatalf("got error %v of type %T, want a ValidationError", err, err)
	}
	if invalid == nil {
		return ""
	}
	return invalid.Field
}

// TestValidateCombinations validates every type alone, with every channel, and with every
// sub-type.
func TestValidateCombinations(t *testing.T) {
	t.Parallel()
	has := func(list, word string) bool { return slices.Contains(strings.Fields(list), word) }
	subTypes := map[string]string{"consultation": specConsultation, "emergency_care": specEmergencyCare}
	for _, kind := range uniqueWords(testedWords) {
		bare := Intent{Type: kind, CustomLabel: labelFor(kind)}
		want := ""
		if !has(specTypes, kind) {
			want = "before.type"
		}
		if got := errorField(t, bare.Validate("before")); got != want {
			t.Errorf("type %s: got error for field %q, want %q", kind, got, want)
		}
		if want != "" {
			continue
		}
		for _, category := range uniqueWords(testedWords) {
			channelled, subTyped := bare, bare
			channelled.Channel = &Channel{category, labelFor(category)}
			subTyped.SubType = &SubType{category, labelFor(category)}
			wantChannel, wantSubType := "", ""
			switch {
			case kind != "consultation":
				wantChannel = "before.channel"
			case !has(specChannels, category):
				wantChannel = "before.channel.category"
			}
			switch {
			case subTypes[kind] == "":
				wantSubType = "before.sub_type"
			case !has(subTypes[kind], category):
				wantSubType = "before.sub_type.category"
			}
			if got := errorField(t, channelled.Validate("before")); got != wantChannel {
				t.Errorf("type %s with channel %s: got error for field %q, want %q", kind, category, got, wantChannel)
			}
			if got := errorField(t, subTyped.Validate("before")); got != wantSubType {
				t.Errorf("type %s with sub-type %s: got error for field %q, want %q", kind, category, got, wantSubType)
			}
		}
	}
}

// TestValidate checks the error messages, and the stored form of valid intents.
func TestValidate(t *testing.T) {
	t.Parallel()
	long, tooLong := strings.Repeat("é", 160), strings.Repeat("🙂", 161)
	for name, test := range map[string]struct {
		intent string
		want   string // the error, or the stored intent
	}{
		"as in the specification": {
			`{"type": "consultation", "channel": {"category": "video"}, "sub_type": {"category": "nurse"}}`,
			`{"type":"consultation","channel":{"category":"video"},"sub_type":{"category":"nurse"}}`,
		},
		"custom values": {
			`{"type": "consultation", "channel": {"category": "custom", "custom_label": "a letter"}, "sub_type": {"category": "custom", "custom_label": "a friend"}}`,
			`{"type":"consultation","channel":{"category":"custom","custom_label":"a letter"},"sub_type":{"category":"custom","custom_label":"a friend"}}`,
		},
		"null fields": {
			`{"type": "unknown", "channel": null, "sub_type": null, "custom_label": null}`, `{"type":"unknown"}`,
		},
		"unknown fields": {`{"type": "not_sure", "mood": "good", "channel": null}`, `{"type":"not_sure"}`},
		"unneeded labels": {
			`{"type": "consultation", "custom_label": "x", "channel": {"category": "chat", "custom_label": "` + tooLong + `"}, "sub_type": {"category": "nurse", "custom_label": " "}}`,
			`{"type":"consultation","channel":{"category":"chat"},"sub_type":{"category":"nurse"}}`,
		},
		"160 characters of two bytes": {
			`{"type": "custom", "custom_label": "` + long + `"}`, `{"type":"custom","custom_label":"` + long + `"}`,
		},
		"label with blanks": {`{"type": "custom", "custom_label": " a "}`, `{"type":"custom","custom_label":" a "}`},

		"no type":             {`{}`, "f.type: expected one of self_treatment_at_home, consultation, urgent_care_center, emergency_care, not_sure, unknown, custom, got nothing"},
		"null type":           {`{"type": null}`, "f.type: expected one of self_treatment_at_home, consultation, urgent_care_center, emergency_care, not_sure, unknown, custom, got nothing"},
		"another type":        {`{"type": "hospital"}`, `f.type: expected one of self_treatment_at_home, consultation, urgent_care_center, emergency_care, not_sure, unknown, custom, got "hospital"`},
		"a very long type":    {`{"type": "` + tooLong + `"}`, `got "` + strings.Repeat("🙂", 64) + `…"`},
		"custom, no label":    {`{"type": "custom"}`, "f.custom_label: missing, expected 1 to 160 characters that describe the custom value"},
		"custom, blank label": {`{"type": "custom", "custom_label": " \t\u00a0"}`, "f.custom_label: missing"},
		"161 characters":      {`{"type": "custom", "custom_label": "` + tooLong + `"}`, "f.custom_label: expected at most 160 characters, got 161"},
		"channel elsewhere":   {`{"type": "emergency_care", "channel": {"category": "video"}}`, "f.channel: expected none with type emergency_care; only consultation has one"},
		"empty channel":       {`{"type": "consultation", "channel": {}}`, "f.channel.category: expected one of in_person, provider_application, chat, audio, video, not_sure, custom, got nothing"},
		"channel, no label":   {`{"type": "consultation", "channel": {"category": "custom"}}`, "f.channel.custom_label: missing"},
		"channel, long label": {`{"type": "consultation", "channel": {"category": "custom", "custom_label": "` + tooLong + `"}}`, "f.channel.custom_label: expected at most 160"},
		"sub-type elsewhere":  {`{"type": "unknown", "sub_type": {"category": "nurse"}}`, "f.sub_type: expected none with type unknown; only consultation and emergency_care have one"},
		"sub-type of another": {`{"type": "emergency_care", "sub_type": {"category": "nurse"}}`, `f.sub_type.category: expected one of with_ambulance, without_ambulance, custom, not_sure, got "nurse"`},
		"sub-type, no label":  {`{"type": "emergency_care", "sub_type": {"category": "custom"}}`, "f.sub_type.custom_label: missing"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var intent Intent
			if err := json.Unmarshal([]byte(test.intent), &intent); err != nil {
				t.Fatal(err)
			}
			if err := intent.Validate("f"); err != nil {
				if !strings.Contains(err.Error(), test.want) {
					t.Errorf("got error %q, want it to contain %q", err, test.want)
				}
				return
			}
			stored, err := json.Marshal(intent)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, string(stored)); diff != "" {
				t.Errorf("stored intent (-want +got)\n%s", diff)
			}
		})
	}
}

// FuzzIntent checks that every accepted intent has labels within the limit and only on
// custom categories, is accepted unchanged a second time, and survives storing and
// reading.
func FuzzIntent(f *testing.F) {
	for _, seed := range []string{
		`{"type": "consultation", "channel": {"category": "custom", "custom_label": "a"}, "sub_type": {"category": "nurse", "custom_label": "b"}}`,
		`{"type": "emergency_care", "sub_type": {"category": "custom", "custom_label": "\u0000\ud800"}}`,
		`{"type": "custom", "custom_label": " "}`, `{"type": "unknown", "channel": null}`, `{"TYPE": "not_sure", "type": ""}`, `[]`, `{"channel": 1}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		var intent Intent
		if json.Unmarshal(body, &intent) != nil || intent.Validate("f") != nil {
			return
		}
		pairs := [][2]string{{intent.Type, intent.CustomLabel}}
		if intent.Channel != nil {
			pairs = append(pairs, [2]string{intent.Channel.Category, intent.Channel.CustomLabel})
		}
		if intent.SubType != nil {
			pairs = append(pairs, [2]string{intent.SubType.Category, intent.SubType.CustomLabel})
		}
		for _, pair := range pairs {
			if (pair[0] == "custom") != (pair[1] != "") || len([]rune(pair[1])) > MaxLabelLength {
				t.Errorf("accepted category %q with label %q", pair[0], pair[1])
			}
		}
		stored, err := json.Marshal(intent)
		if err != nil {
			t.Fatal(err)
		}
		var again Intent
		if err := json.Unmarshal(stored, &again); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(intent, again); diff != "" {
			t.Errorf("intent after a round trip (-stored +read)\n%s", diff)
		}
		if err := again.Validate("f"); err != nil {
			t.Errorf("accepted intent %s is rejected after a round trip: %v", stored, err)
		}
	})
}
