package glob

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Folded is a glob that matches a path in every spelling that some disk treats as equal: in another case, with
// characters that HFS+ ignores, or with an end that Windows cuts off. The zero Folded matches no path.
type Folded struct {
	exact, folded Glob
	literal       string // is in every path that folded matches; most paths fail this check
	hasClass      bool   // a class such as [A-z] may lose characters in folding
}

// ParseFolded parses a glob. Its error is a *SyntaxError.
func ParseFolded(s string) (Folded, error) {
	exact, err := Parse(s)
	if err != nil {
		return Folded{}, err
	}
	folded, text := exact, foldText(s)
	if text != s {
		if folded, err = Parse(text); err != nil {
			return Folded{}, err
		}
	}
	return Folded{exact, folded, findLiteral(text), strings.Contains(s, "[")}, nil
}

// findLiteral returns the longest literal text of a pattern before its first { or [. It omits slashes at the ends: a/**
// matches a.
func findLiteral(pattern string) string {
	if index := strings.IndexAny(pattern, "{["); index >= 0 {
		pattern = pattern[:index]
	}
	longest := ""
	for _, text := range strings.FieldsFunc(pattern, func(r rune) bool { return strings.ContainsRune(`*?\`, r) }) {
		if text = strings.Trim(text, "/"); len(text) > len(longest) {
			longest = text
		}
	}
	return longest
}

// String returns the glob as it was written.
func (f Folded) String() string { return f.exact.String() }

// Mentions is like Glob.Mentions, in any spelling. It uses the budget in the same way.
func (f Folded) Mentions(class Folded, budget *int) bool {
	return f.exact.Mentions(class.exact, budget) || f.folded.Mentions(class.folded, budget)
}

// FoldedSet is a list of globs. A path matches if one of them matches.
type FoldedSet []Folded

// MustParseFolded parses constant globs. It panics if one is invalid.
func MustParseFolded(list ...string) FoldedSet {
	set := make(FoldedSet, len(list))
	for i, s := range list {
		folded, err := ParseFolded(s)
		if err != nil {
			panic(err)
		}
		set[i] = folded
	}
	return set
}

// Match reports whether one of the globs matches the path in some spelling.
func (s FoldedSet) Match(path string) bool {
	folded, cut := foldText(path), foldText(cutEnds(path))
	return slices.ContainsFunc(s, func(f Folded) bool {
		return f.matchFolded(folded) || cut != folded && f.matchFolded(cut) || f.hasClass && f.exact.Match(path)
	})
}

func (f Folded) matchFolded(path string) bool {
	return strings.Contains(path, f.literal) && f.folded.Match(path)
}

// cutEnds removes the parts that Windows ignores in a name: dots and spaces at its end, and the name of an NTFS stream.
func cutEnds(path string) string {
	parts := strings.Split(path, "/")
	for i, part := range parts {
		part, _, _ = strings.Cut(part, ":")
		if part = strings.TrimRight(part, ". "); part != "" {
			parts[i] = part
		}
	}
	return strings.Join(parts, "/")
}

// ligatures replaces characters that fold to several ASCII characters.
var ligatures = strings.NewReplacer(
	"ß", "ss", "ẞ", "ss", "ﬀ", "ff", "ﬁ", "fi", "ﬂ", "fl", "ﬃ", "ffi", "ﬄ", "ffl", "ﬅ", "st", "ﬆ", "st")

// foldText maps all spellings of a text that differ only in case, or in characters that HFS+ ignores, to the same text.
// Composed and decomposed letters stay different.
func foldText(s string) string {
	if !slices.ContainsFunc([]byte(s), func(b byte) bool { return b >= utf8.RuneSelf }) {
		return strings.ToLower(s)
	}
	return ligatures.Replace(strings.Map(foldRune, s))
}

// foldRune returns one representative of all case variants of a character. It returns -1 for a character that HFS+
// ignores in a name.
func foldRune(r rune) rune {
	if unicode.In(r, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector) {
		return -1
	}
	first := r
	for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
		first = min(first, next)
	}
	return unicode.ToLower(first)
}
