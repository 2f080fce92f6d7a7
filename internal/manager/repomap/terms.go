package repomap

import (
	"strings"
	"unicode"
)

// Limits of reading an instruction.
const (
	mostInstruction = 32 << 10 // bytes of an instruction that are read for its terms
	mostAsked       = 200      // different terms of an instruction
	shortestTerm    = 3        // letters; shorter terms match too much
)

// emptyTerms lists terms that do not identify a place in a repository: common English terms, and terms of any
// instruction. They are stemmed like the results of splitTerms.
var emptyTerms = cutAll(
	`a about above add after again all allow also an and another any are as at available be because been before
	being below between both but by call can cannot case change could current day did different do does doing done down
	during each either else every example expect few fix follow for from further get give given had has have having he her here his
	how however i if implement in instead into is issue it its just keep let like line make many may me mean might more most much must my need
	never new no nor not note now of off often old on once one only onto or other our out over own part please problem
	put rather same second see seem seen set several shall she should show side so some still such support sure take tell than that
	the their them then there these they thing think this those three through thus to too two under until up
	upon us use used using version very via want was way we well were what when where whether which while who whole why will
	with within without work would yet you your`)

func cutAll(list string) map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.Fields(list) {
		out[stemTerm(w)] = true
	}
	return out
}

// splitTerms returns the stemmed lower-case terms of a name, a path or a sentence. It splits at capitals and at
// non-letters. ParseSince becomes parse and since, --max-tries becomes max and try.
func splitTerms(s string) []string {
	var out []string
	runes := []rune(s)
	start := -1
	end := func(i int) {
		if start >= 0 && i-start >= shortestTerm && i-start <= longestName {
			out = append(out, stemTerm(strings.ToLower(string(runes[start:i]))))
		}
		start = -1
	}
	for i, c := range runes {
		switch {
		case !unicode.IsLetter(c):
			end(i)
			continue
		case start >= 0 && unicode.IsUpper(c) &&
			(!unicode.IsUpper(runes[i-1]) || i+1 < len(runes) && unicode.IsLower(runes[i+1])):
			end(i)
		}
		if start < 0 {
			start = i
		}
	}
	end(len(runes))
	return out
}

// stemTerm removes common English endings, so that tasks becomes task and submitted becomes submit. The result
// need not be a real English term, only the same for all forms.
func stemTerm(w string) string {
	for _, ending := range []string{"ing", "ed"} {
		if stem, is := strings.CutSuffix(w, ending); is && len(stem) >= 4 {
			if n := len(stem); stem[n-1] == stem[n-2] && stem[n-1] != 's' && stem[n-1] != 'l' {
				stem = stem[:n-1]
			}
			return strings.TrimSuffix(stem, "e")
		}
	}
	switch {
	case strings.HasSuffix(w, "ies") && len(w) > 4:
		return w[:len(w)-3] + "y"
	case strings.HasSuffix(w, "s") && !strings.HasSuffix(w, "ss") && len(w) > 3:
		w = w[:len(w)-1]
	}
	if len(w) > 4 {
		w = strings.TrimSuffix(w, "e")
	}
	return w
}

// readAsked returns the terms of an instruction with their weights. Code (in backquotes, a flag, a path, or a
// name of several terms) names a place, and weighs more.
func readAsked(instruction string) map[string]float64 {
	const codeWeight = 2
	asked := map[string]float64{}
	take := func(text string, weight float64) {
		for _, w := range splitTerms(text) {
			if !emptyTerms[w] && (asked[w] > 0 || len(asked) < mostAsked) {
				asked[w] = max(asked[w], weight)
			}
		}
	}
	instruction = strings.ToValidUTF8(instruction[:min(len(instruction), mostInstruction)], "")
	for i, piece := range strings.Split(instruction, "`") {
		if i%2 == 1 && !strings.Contains(piece, "\n") {
			take(piece, codeWeight)
			continue
		}
		for _, text := range strings.Fields(piece) {
			text = strings.Trim(text, `.,;:!?()[]{}"'`)
			if looksLikeCode(text) {
				take(text, codeWeight)
			} else {
				take(text, 1)
			}
		}
	}
	return asked
}

// looksLikeCode reports whether a text between spaces is a flag, a path or an identifier.
func looksLikeCode(s string) bool {
	if strings.HasPrefix(s, "-") || strings.ContainsAny(s, "_/.(") {
		return true
	}
	return strings.ContainsFunc(strings.TrimLeftFunc(s, unicode.IsUpper), unicode.IsUpper)
}
