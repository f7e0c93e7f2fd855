// SPDX-License-Identifier: Apache-2.0

package section

import (
	"testing"

	"github.com/anamnesis-dev/anamnesis/apiserver/record"
)

func TestWithPronouns(t *testing.T) {
	t.Parallel()
	catalog := mustLoadTexts(t)
	for _, test := range []struct{ language, text, female, male string }{
		{"en", "Does he or she hold his or her arm?", "Does she hold her arm?", "Does he hold his arm?"},
		{"en", "His or her leg, did he or she hurt it himself or herself?", "Her leg, did she hurt it herself?", "His leg, did he hurt it himself?"},
		{"en", "Does the child or sheep cough?", "Does the child or sheep cough?", "Does the child or sheep cough?"},
		{"en-us", "Does it bother him or her?", "Does it bother her?", "Does it bother him?"},
		{"de", "Tut ihm oder ihr der Arm weh, wenn er oder sie seinen oder ihren Kopf dreht?", "Tut ihr der Arm weh, wenn sie ihren Kopf dreht?", "Tut ihm der Arm weh, wenn er seinen Kopf dreht?"},
		{"de", "Seine oder ihre Haut: juckt sein oder ihr Bein?", "Ihre Haut: juckt ihr Bein?", "Seine Haut: juckt sein Bein?"},
	} {
		for sex, want := range map[string]string{"female": test.female, "male": test.male} {
			state := State{Env: Env{Texts: catalog.Match(test.language)}, Survey: &record.Survey{Sex: sex}}
			if got := state.withPronouns(test.text); got != want {
				t.Errorf("%s, %s: got %q, want %q", test.language, sex, got, want)
			}
		}
	}
}
