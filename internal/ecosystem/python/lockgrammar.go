package python

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"company/internal/ecosystem"
	"company/internal/lib/lazyregexp"
)

// fieldRule reports whether a value of a lock file has the form that its client writes. Clients copy these
// values into lines of pip's lists. There, a value of another form could become a further line, an option,
// an address or a comment.
type fieldRule func(value any) bool

// fieldRules maps the known fields of a table to their rules.
type fieldRules map[string]fieldRule

// checkTable returns an error for the first field of a table that breaks its rule. A field without a rule
// must be plain text. Such a field is also part of a package's source.
func (rules fieldRules) checkTable(of string, table map[string]any) error {
	for _, key := range slices.Sorted(maps.Keys(table)) {
		fits := rules[key]
		if fits == nil {
			fits = hasLines
		}
		if table[key] != nil && !fits(table[key]) { // pipenv ignores null
			field := ecosystem.FormatRest(map[string]any{key: table[key]})
			return fmt.Errorf("the field %q of %q is not in its client's form: %.200s", key, of, field)
		}
	}
	return nil
}

// rulesOf returns the same rule for several fields.
func rulesOf(fits fieldRule, names ...string) fieldRules {
	rules := fieldRules{}
	for _, name := range names {
		rules[name] = fits
	}
	return rules
}

// joinRules combines the rules of all given fields.
func joinRules(all ...fieldRules) fieldRules {
	joined := fieldRules{}
	for _, rules := range all {
		maps.Copy(joined, rules)
	}
	return joined
}

var (
	lockedVersionRE = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9.!+_-]*$`)
	pipenvVersionRE = lazyregexp.New(
		`^(\*|[=<>~!]=?=?\s?[A-Za-z0-9*][A-Za-z0-9.!+_*-]*(,\s?[=<>~!]=?=?\s?[A-Za-z0-9*][A-Za-z0-9.!+_*-]*)*)$`)
	digestRE  = lazyregexp.New(`^[a-z0-9_]+:[0-9a-f]+$`)
	extraRE   = lazyregexp.New(`^[A-Za-z0-9._-]+$`)
	addressRE = lazyregexp.New(`^[!-~]+$`)
	// markerTextRE matches a string or a variable, and markerSignRE an operator. A string has no character
	// that begins a comment or variable or that splits a line.
	markerTextRE = lazyregexp.New(`^("[^"#$;\\]*"|'[^'#$;\\]*'|[A-Za-z_][A-Za-z0-9_.]*)`)
	markerSignRE = lazyregexp.New(`^(===|[=~!<>]=|[<>]|not +in\b|in\b)`)
	markerJoinRE = lazyregexp.New(`^(and|or)\b`)
)

// matchText returns a rule that accepts strings which match re.
func matchText(re *lazyregexp.Regexp) fieldRule {
	return func(value any) bool {
		text, isText := value.(string)
		return isText && re.MatchString(text)
	}
}

var (
	isPackage = matchText(nameRE)
	isVersion = matchText(lockedVersionRE)
	isDigest  = matchText(digestRE)
	isExtra   = matchText(extraRE)
	isAddress = matchText(addressRE)
)

// isFreeText returns true for any value. It is the rule for fields that only people read.
func isFreeText(any) bool { return true }

func isFlag(value any) bool {
	_, is := value.(bool)
	return is
}

// isLine reports whether a value is one line without an option or a comment, as pip would find them.
func isLine(value any) bool {
	text, isText := value.(string)
	return isText && !strings.Contains(text, " -") && !strings.Contains(text, " #") &&
		!strings.ContainsFunc(text, isLineEnd)
}

// isLineEnd reports whether a character is a control character or ends a line in Python.
func isLineEnd(c rune) bool { return unicode.IsControl(c) || c == '\u2028' || c == '\u2029' }

// hasLines reports whether isLine holds for all keys and strings in a value.
func hasLines(value any) bool {
	if text, isText := value.(string); isText {
		return isLine(text)
	}
	if table, isTable := value.(map[string]any); isTable {
		return tableOf(hasLines)(table)
	}
	list, isList := itemsOf(value)
	return !isList || !slices.ContainsFunc(list, func(one any) bool { return !hasLines(one) })
}

// itemsOf returns the items of a TOML or JSON list.
func itemsOf(value any) (items []any, isList bool) {
	switch list := value.(type) {
	case []any:
		return list, true
	case []map[string]any:
		for _, table := range list {
			items = append(items, table)
		}
		return items, true
	}
	return nil, false
}

// listOf returns a rule that accepts lists whose items are accepted by fits.
func listOf(fits fieldRule) fieldRule {
	return func(value any) bool {
		list, isList := itemsOf(value)
		return isList && !slices.ContainsFunc(list, func(one any) bool { return !fits(one) })
	}
}

// tableOf returns a rule that accepts tables with any keys whose values are accepted by fits.
func tableOf(fits fieldRule) fieldRule {
	return func(value any) bool {
		table, isTable := value.(map[string]any)
		for key, one := range table {
			if !isLine(key) || !fits(one) {
				return false
			}
		}
		return isTable
	}
}

// tableWith returns a rule that accepts tables with the given fields.
func tableWith(rules fieldRules) fieldRule {
	return func(value any) bool {
		table, isTable := value.(map[string]any)
		return isTable && rules.checkTable("", table) == nil
	}
}

// oneOf returns a rule that accepts values which any of the rules accepts.
func oneOf(all ...fieldRule) fieldRule {
	return func(value any) bool {
		return slices.ContainsFunc(all, func(fits fieldRule) bool { return fits(value) })
	}
}

// isMarker reports whether a value is an environment marker of PEP 508 in ASCII. An empty string counts,
// and so does <empty>, which poetry writes for a marker that is never true.
func isMarker(value any) bool {
	text, isText := value.(string)
	if text == "" || text == "<empty>" || !isText {
		return isText
	}
	if !isLine(text) || strings.ContainsFunc(text, func(c rune) bool { return c > '~' }) {
		return false
	}
	depth, rest := 0, strings.Trim(text, " ")
	take := func(re *lazyregexp.Regexp) bool {
		found := re.FindString(rest)
		rest = strings.TrimLeft(rest[len(found):], " ")
		return found != ""
	}
	for {
		for strings.HasPrefix(rest, "(") {
			depth, rest = depth+1, strings.TrimLeft(rest[1:], " ")
		}
		if !take(markerTextRE) || !take(markerSignRE) || !take(markerTextRE) {
			return false
		}
		for strings.HasPrefix(rest, ")") {
			depth, rest = depth-1, strings.TrimLeft(rest[1:], " ")
		}
		if rest == "" || depth < 0 {
			return depth == 0
		}
		if !take(markerJoinRE) {
			return false
		}
	}
}

// isMarkerOf returns a rule that accepts the rest of a marker after this variable.
func isMarkerOf(variable string) fieldRule {
	return func(value any) bool {
		text, isText := value.(string)
		return isText && isMarker(variable+" "+text)
	}
}

// isRequirement reports whether a value is a requirement of PEP 508 in one line. A requirement with an
// address is also part of a source.
func isRequirement(value any) bool {
	text, _ := value.(string)
	_, rest, isNamed := ecosystem.SplitRequirement(text)
	version, marker, _ := strings.Cut(rest, ";")
	isDirect := strings.HasPrefix(rest, "@")
	isVersion := version == "" || strings.ContainsRune("(=!~<>", rune(version[0]))
	return isNamed && isLine(text) && (isDirect || isVersion && isMarker(strings.TrimSpace(marker)))
}

// isDigestTable reports whether a value is a table of digests by algorithm.
func isDigestTable(value any) bool {
	table, isTable := value.(map[string]any)
	for algorithm, sum := range table {
		if text, isText := sum.(string); !isText || !isDigest(algorithm+":"+text) {
			return false
		}
	}
	return isTable
}

// poetryNeed has the fields of a poetry dependency that do not affect its source. For any other field, such
// as url or git, poetry fetches the dependency from there, even if the file has no package of that name.
var poetryNeed = joinRules(rulesOf(isLine, "version", "python", "platform"),
	rulesOf(isFlag, "optional", "allow-prereleases", "allows-prereleases"),
	fieldRules{"markers": isMarker, "extras": listOf(isExtra)})

// poetryNeeds accepts the dependencies of a poetry package, each with one or several constraints.
var poetryNeeds = tableOf(oneOf(isLine, tableWith(poetryNeed), listOf(oneOf(isLine, tableWith(poetryNeed)))))

// lockedNeeds accepts the dependencies in a uv.lock or pylock.toml, which are packages of the same file.
var lockedNeeds = listOf(
	tableWith(fieldRules{"name": isPackage, "version": isVersion, "marker": isMarker, "extra": listOf(isExtra)}))
