// SPDX-License-Identifier: Apache-2.0

package nlp

import (
	"strings"
	"unicode"
)

// sanitizeText replaces invalid UTF-8 in text and removes control characters for the
// writing direction.
func sanitizeText(text string) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	return strings.Map(func(c rune) rune {
		if unicode.Is(unicode.Bidi_Control, c) {
			return -1
		}
		return c
	}, text)
}

// buildResult returns the result in newly allocated memory.
func (p *parser) buildResult() Result {
	result := Result{Obvious: p.isObvious(), Tokens: p.tokenTexts()}
	for i := range p.findings {
		if f := &p.findings[i]; !f.dropped {
			result.Mentions = append(result.Mentions, p.newMention(f))
		}
	}
	return result
}

// tokenTexts returns the words after spelling correction.
func (p *parser) tokenTexts() []string {
	if len(p.matcher.words) == 0 {
		return nil
	}
	tokens := make([]string, len(p.matcher.words))
	for i := range p.matcher.words {
		tokens[i] = p.matcher.words[i].text
	}
	return tokens
}

func (p *parser) newMention(f *finding) Mention {
	tokens := p.findingTokens(f)
	positions, orth := make([]int, len(tokens)), make([]string, len(tokens))
	for i, token := range tokens {
		positions[i], orth[i] = int(token), p.matcher.words[token].text
	}
	return Mention{Observation: f.observation, Absent: f.absent, Orth: strings.Join(orth, " "), Positions: positions, Head: int(f.head)}
}

// isObvious reports whether the text is unambiguous: it has a mention, each word
// belongs to a mention, a cue or a time span or is nearly meaningless, no word was
// misspelled or split, and no selected wording competed with another wording for the
// same words.
func (p *parser) isObvious() bool {
	if p.selector.ambiguous {
		return false
	}
	p.taken = resize(p.taken, len(p.matcher.words))
	p.markMatches(p.scopes.cues)
	p.markMatches(p.durations)
	hasMention := false
	for i := range p.findings {
		f := &p.findings[i]
		if f.match == none {
			return false // a classification, which is ambiguous
		}
		hasMention = hasMention || !f.dropped
		for _, token := range p.findingTokens(f) {
			p.taken[token] = true
		}
	}
	for i := range p.matcher.words {
		w := &p.matcher.words[i]
		if w.corrected || w.kind != markToken && !w.filler && !w.stem.Plain && !p.taken[i] {
			return false
		}
	}
	return hasMention
}

// markMatches marks the tokens of matches as taken.
func (p *parser) markMatches(matches []int) {
	for _, i := range matches {
		for _, token := range p.matcher.tokens(&p.matcher.matches[i]) {
			p.taken[token] = true
		}
	}
}
