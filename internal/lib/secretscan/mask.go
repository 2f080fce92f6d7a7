package secretscan

import (
	"bytes"
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
)

//go:embed masks.toml
var masksText string

// maskRules parses the rules for masks at their first use.
var maskRules = sync.OnceValue(func() *ruleSet { return readRules(masksText) })

// MaskStart begins what stands in place of a secret.
const MaskStart = "[MASKED:"

// genericMask is the mask of the office's own secrets, and of those that only gitleaks' rules know.
const genericMask = "GENERIC_SECRET"

// Redact replaces credentials by [MASKED:NAME]: keys, tokens and authorization headers of known forms, and the office's
// own secrets. It is for text that is stored or that agents read. Redact and Mask are safe on a nil Scanner, which
// knows no secrets of an office.
//
// A text that was not searched completely is hidden from that place on, and so is one in which a secret is left.
func (s *Scanner) Redact(text string) string { return s.maskText(text, false) }

// Mask is like Redact for text that people are shown. It also replaces what may be needed for work: cookies, the values
// of fields and variables such as password or API_KEY, and passwords in URLs.
func (s *Scanner) Mask(text string) string { return s.maskText(text, true) }

func (s *Scanner) maskText(text string, shown bool) string {
	if s == nil {
		s = noSecrets
	}
	if !s.mayHaveSecret(text, shown) {
		return text
	}
	// What a mask replaced may leave a new match around it.
	for range maskRounds {
		places, searched := s.findSecrets(text, shown)
		if len(places) == 0 && searched == len(text) {
			return text
		}
		text = replacePlaces(text, places, searched)
	}
	if places, _ := s.findSecrets(text, shown); len(places) > 0 {
		return text[:places[0].from] + describeHidden(len(text)-places[0].from)
	}
	return text
}

const maskRounds = 3

var noSecrets = &Scanner{}

// quickWords finds the keywords that a text with a secret must have.
func quickWords(shown bool) *keywords {
	var words []string
	for _, r := range maskRules().Rules {
		if shown || !r.Shown {
			words = append(words, r.Keywords...)
		}
	}
	for _, r := range shapes().Rules {
		if r.ID == general {
			continue
		}
		for _, k := range r.Keywords {
			if len(k) >= leastMark && contextual[r.ID] != k {
				words = append(words, k)
			}
		}
	}
	slices.Sort(words)
	return newKeywords(slices.Compact(words))
}

var quick = map[bool]func() *keywords{
	false: sync.OnceValue(func() *keywords { return quickWords(false) }),
	true:  sync.OnceValue(func() *keywords { return quickWords(true) }),
}

// mayHaveSecret is a cheap check, since most texts have none.
func (s *Scanner) mayHaveSecret(text string, shown bool) bool {
	return len(text) >= leastSecret && (quick[shown]().isAnyIn(text) || s.ownWords != nil && s.ownWords.isAnyIn(text))
}

// leastSecret is the minimum length of a text with a secret, such as ://:a@.
const leastSecret = 6

// replacePlaces replaces secrets by their masks, and hides what was not searched.
func replacePlaces(text string, places []secretPlace, searched int) string {
	var out strings.Builder
	end := 0
	for _, place := range places {
		out.WriteString(text[end:place.from] + MaskStart + place.name + "]")
		end = place.to
	}
	if end < searched {
		out.WriteString(text[end:searched])
	}
	if end = max(end, searched); end < len(text) {
		out.WriteString(describeHidden(len(text) - end))
	}
	return out.String()
}

// describeHidden returns what stands in place of n bytes that are not shown.
func describeHidden(n int) string {
	return fmt.Sprintf(MaskStart+" %d bytes that may have secrets]", n)
}

// secretPlace is the place of a secret in a text.
type secretPlace struct {
	from, to int
	name     string
	rank     int // of its rule; the lowest one names overlapping places
}

// findSecrets returns the secrets in a text, in order and without overlaps. searched is the number of bytes that were
// searched completely.
func (s *Scanner) findSecrets(text string, shown bool) (places []secretPlace, searched int) {
	searched = len(text)
	if s.ownWords != nil && s.ownWords.isAnyIn(text) {
		places = s.findOwn(text)
	}
	search := &Search{scanner: s, steps: searchSteps}
	for _, set := range []*ruleSet{maskRules(), shapes()} {
		masks := set == maskRules()
		t := textSearch{search: search, set: set, text: strings.ReplaceAll(text, "\x00", " "), sure: !masks,
			unshown: !shown, steps: textSteps}
		t.keep = func(m match) bool {
			place := secretPlace{from: m.at, to: m.at + len(m.secret), name: genericMask, rank: len(maskRules().Rules)}
			switch {
			case masks:
				place.name, place.rank = m.rule.ID, m.rule.number
			case m.rule.ID == "private-key":
				return true // PRIVATE_KEY is more exact
			}
			places = append(places, place)
			return true
		}
		searched = min(searched, t.run())
	}
	slices.SortFunc(places, func(a, b secretPlace) int { return cmp.Or(a.from-b.from, a.rank-b.rank) })
	return uniteOverlaps(places), searched
}

// findOwn returns the places of the office's own secrets.
func (s *Scanner) findOwn(text string) (places []secretPlace) {
	for _, own := range s.own {
		for from := 0; ; {
			index := strings.Index(text[from:], string(own.text))
			if index < 0 {
				break
			}
			from += index + len(own.text)
			places = append(places, secretPlace{from: from - len(own.text), to: from, name: genericMask})
		}
	}
	return places
}

// uniteOverlaps unites overlapping places, which are ordered by their start. The lowest rank names them.
func uniteOverlaps(places []secretPlace) []secretPlace {
	out := places[:0]
	for _, place := range places {
		if last := len(out) - 1; last >= 0 && place.from < out[last].to {
			if place.rank < out[last].rank {
				out[last].name, out[last].rank = place.name, place.rank
			}
			out[last].to = max(out[last].to, place.to)
			continue
		}
		out = append(out, place)
	}
	return out
}

// MaskJSON is Mask for each string in a JSON text, except the names of fields.
func (s *Scanner) MaskJSON(text []byte) []byte {
	return ReplaceStrings(text, func(_, value string) string { return s.Mask(value) })
}

// ReplaceStrings replaces strings in a JSON text, except the names of fields. replace gets the name of the field that
// a string belongs to, also for an element of a list.
func ReplaceStrings(text []byte, replace func(field, value string) string) []byte {
	var out []byte
	end, field := 0, ""
	for from := 0; ; {
		index := bytes.IndexByte(text[from:], '"')
		if index < 0 {
			break
		}
		from += index
		to := endOfString(text, from)
		value, ok := string(text[from+1:max(from+1, to-1)]), true
		if strings.IndexByte(value, '\\') >= 0 {
			ok = json.Unmarshal(text[from:to], &value) == nil
		}
		if rest := bytes.TrimLeft(text[to:], " \t\r\n"); len(rest) > 0 && rest[0] == ':' {
			field = value
		} else if replaced := replace(field, value); ok && replaced != value {
			out = append(out, text[end:from]...)
			out, end = append(out, quoteJSON(replaced)...), to
		}
		from = to
	}
	if end == 0 {
		return text
	}
	return append(out, text[end:]...)
}

// endOfString returns the position after the string that begins at from.
func endOfString(text []byte, from int) int {
	for i := from + 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(text)
}

func quoteJSON(s string) []byte {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(s) // a string can always be encoded
	return bytes.TrimSuffix(out.Bytes(), []byte("\n"))
}
