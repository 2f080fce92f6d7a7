package glob

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Folded is a glob that matches a path in every spelling that some disk takes for it:
// in another case, with characters that HFS+ ignores, with an end that Windows cuts off.
// The zero Folded matches no path.
type Folded struct {
	exact, folded Glob
	literal       string // is in every path that folded matches; most paths need no other look
	hasClass      bool   // a class such as [A-z] may lose characters when it is folded
}

// ParseFolded reads a glob. Its error is a *SyntaxError.
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

// findLiteral finds the longest text that a pattern spells out before its first choice.
// A slash at its end may be missing: a/** matches a.
func findLiteral(pattern string) string {
	if at := strings.IndexAny(pattern, "{["); at >= 0 {
		pattern = pattern[:at]
	}
	longest := ""
	for _, text := range strings.FieldsFunc(pattern, func(r rune) bool { return strings.ContainsRune(`*?\`, r) }) {
		if text = strings.Trim(text, "/"); len(text) > len(longest) {
			longest = text
		}
	}
	return longest
}

// String is the glob as it was written.
func (f Folded) String() string { return f.exact.String() }

// Mentions reports whether one glob speaks of what the other means, as Glob.Mentions
// does, in any spelling. budget is as there.
func (f Folded) Mentions(class Folded, budget *int) bool {
	return f.exact.Mentions(class.exact, budget) || f.folded.Mentions(class.folded, budget)
}

// FoldedSet is a list of globs of which one is enough.
type FoldedSet []Folded

// MustParseFolded reads globs that stand in the code.
func MustParseFolded(list ...string) FoldedSet {
	set := make(FoldedSet, len(list))
	for i, s := range list {
		f, err := ParseFolded(s)
		if err != nil {
			panic(err)
		}
		set[i] = f
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

// cutEnds cuts off what Windows leaves away of a name: dots and blanks at its end, and the
// name of a stream of NTFS.
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

// ligatures are the characters that fold to several, one of them of ASCII.
var ligatures = strings.NewReplacer("ß", "ss", "ẞ", "ss", "ﬀ", "ff", "ﬁ", "fi", "ﬂ", "fl", "ﬃ", "ffi", "ﬄ", "ffl", "ﬅ", "st", "ﬆ", "st")

// foldText gives the spellings of a text that differ in case, or in characters that HFS+
// ignores, the same text. Composed and decomposed letters stay two.
func foldText(s string) string {
	if !slices.ContainsFunc([]byte(s), func(b byte) bool { return b >= utf8.RuneSelf }) {
		return strings.ToLower(s)
	}
	return ligatures.Replace(strings.Map(foldRune, s))
}

// foldRune is the character that stands for all that are the same in another case, and -1
// for one that HFS+ ignores in a name.
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
