// SPDX-License-Identifier: Apache-2.0

package language

import (
	"strings"
	"unicode"
)

// readableText is text without bytes that are not UTF-8, and without the marks
// that say only in which direction it is written.
func readableText(text string) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	return strings.Map(func(c rune) rune {
		if unicode.Is(unicode.Bidi_Control, c) {
			return -1
		}
		return c
	}, text)
}

// answer is the result, in memory of its own.
func (p *parser) answer() Result {
	result := Result{Obvious: p.obvious(), Tokens: p.tokens()}
	for i := range p.findings {
		if f := &p.findings[i]; !f.dropped {
			result.Mentions = append(result.Mentions, p.mention(f))
		}
	}
	return result
}

// tokens are the words as they were understood.
func (p *parser) tokens() []string {
	if len(p.matcher.words) == 0 {
		return nil
	}
	tokens := make([]string, len(p.matcher.words))
	for i := range p.matcher.words {
		tokens[i] = p.matcher.words[i].text
	}
	return tokens
}

func (p *parser) mention(f *finding) Mention {
	tokens := p.tokensOf(f)
	positions, orth := make([]int, len(tokens)), make([]string, len(tokens))
	for i, token := range tokens {
		positions[i], orth[i] = int(token), p.matcher.words[token].text
	}
	return Mention{Observation: f.observation, Absent: f.absent, Orth: strings.Join(orth, " "), Positions: positions, Head: int(f.head)}
}

// obvious reports whether nothing in the text is open: there is a mention, each
// word belongs to one, to a cue, to a time, or means next to nothing, none was misspelt
// or written apart, and no wording lost against another one of the same words.
func (p *parser) obvious() bool {
	if p.chooser.rivals {
		return false
	}
	p.taken = resized(p.taken, len(p.matcher.words))
	p.takeAll(p.judge.cues)
	p.takeAll(p.durations)
	mentions := false
	for i := range p.findings {
		f := &p.findings[i]
		if f.match == none {
			return false // by its words, which might mean else
		}
		mentions = mentions || !f.dropped
		for _, token := range p.tokensOf(f) {
			p.taken[token] = true
		}
	}
	for i := range p.matcher.words {
		w := &p.matcher.words[i]
		if w.corrected || w.kind != markToken && !w.filler && !w.stem.Plain && !p.taken[i] {
			return false
		}
	}
	return mentions
}

// takeAll marks the tokens of matches.
func (p *parser) takeAll(matches []int) {
	for _, i := range matches {
		for _, token := range p.matcher.tokens(&p.matcher.matches[i]) {
			p.taken[token] = true
		}
	}
}
