package python

import (
	"slices"
	"strings"

	pep440 "github.com/aquasecurity/go-pep440-version"

	"company/internal/lib/lazyregexp"
)

// environment holds the values that markers of requirements refer to (PEP 508).
type environment struct {
	values map[string]string
	extras []string // requested extras
	groups []string // requested dependency groups (PEP 751)
}

// debianEnvironment returns the environment of Debian's Python on a processor architecture, in Go's
// spelling.
func debianEnvironment(arch string) environment {
	machine := map[string]string{"amd64": "x86_64", "arm64": "aarch64"}[arch]
	return environment{values: map[string]string{
		"os_name": "posix", "sys_platform": "linux", "platform_system": "Linux", "platform_machine": machine,
		"platform_release": "", "platform_version": "",
		"python_version": debianVersion, "python_full_version": debianFullVersion, "implementation_name": "cpython",
		"implementation_version":         debianFullVersion,
		"platform_python_implementation": "CPython",
	}}
}

// versionVariables lists the variables that are compared as versions. Others are compared as strings.
var versionVariables = []string{"python_version", "python_full_version", "implementation_version"}

// holdsMarker reports whether a marker is true. An invalid marker counts as true, because pip decides about
// it later.
func (e environment) holdsMarker(marker string) bool {
	if strings.TrimSpace(marker) == "" {
		return true
	}
	p := &markerParser{env: e, tokens: markerTokenRE.FindAllString(marker, maxMarkerTokens)}
	value, ok := p.parseOr(0)
	return value || !ok || p.at != len(p.tokens)
}

const (
	maxMarkerTokens = 2000
	maxMarkerDepth  = 40
)

var markerTokenRE = lazyregexp.New(`"[^"]*"|'[^']*'|\(|\)|===|[<>=!~]=|[<>]|[A-Za-z_][A-Za-z0-9_.]*|\S`)

// markerParser evaluates a marker by recursive descent, with "or" at the top level.
type markerParser struct {
	env    environment
	tokens []string
	at     int
}

func (p *markerParser) nextToken() string {
	if p.at >= len(p.tokens) {
		return ""
	}
	p.at++
	return p.tokens[p.at-1]
}

func (p *markerParser) takesToken(word string) bool {
	if p.at < len(p.tokens) && p.tokens[p.at] == word {
		p.at++
		return true
	}
	return false
}

func (p *markerParser) parseOr(depth int) (value, ok bool) {
	value, ok = p.parseAnd(depth)
	for ok && p.takesToken("or") {
		var right bool
		right, ok = p.parseAnd(depth)
		value = value || right
	}
	return value, ok
}

func (p *markerParser) parseAnd(depth int) (value, ok bool) {
	value, ok = p.parseOne(depth)
	for ok && p.takesToken("and") {
		var right bool
		right, ok = p.parseOne(depth)
		value = value && right
	}
	return value, ok
}

func (p *markerParser) parseOne(depth int) (value, ok bool) {
	if depth > maxMarkerDepth {
		return false, false
	}
	if p.takesToken("(") {
		value, ok = p.parseOr(depth + 1)
		return value, ok && p.takesToken(")")
	}
	left, op := p.nextToken(), p.nextToken()
	if op == "not" && p.takesToken("in") {
		op = "not in"
	}
	return p.env.compareTexts(left, op, p.nextToken())
}

// compareTexts evaluates one comparison of a variable and a string, in either order.
func (e environment) compareTexts(left, op, right string) (value, ok bool) {
	if set, is := e.setOf(left); is { // extra == 'x' is always in this order
		return e.asksFor(set, op, right)
	}
	if set, is := e.setOf(right); is { // 'x' in dependency_groups
		return e.asksFor(set, op, left)
	}
	variable := left
	if isQuoted(left) {
		variable = right
	}
	a, okA := e.valueOf(left)
	b, okB := e.valueOf(right)
	if !okA || !okB {
		return false, false
	}
	switch op {
	case "in":
		return strings.Contains(b, a), true
	case "not in":
		return !strings.Contains(b, a), true
	}
	if slices.Contains(versionVariables, strings.ReplaceAll(variable, ".", "_")) {
		if isQuoted(left) { // '3.8' <= python_version
			a, b = b, a
			op = mirrorOperator(op)
		}
		fits, ok := versionFits(a, op+b)
		return fits, ok
	}
	switch op {
	case "==", "===":
		return a == b, true
	case "!=":
		return a != b, true
	case "<", "<=", ">", ">=":
		c := strings.Compare(a, b)
		return op[0] == '<' && c < 0 || op[0] == '>' && c > 0 || len(op) == 2 && c == 0, true
	}
	return false, false
}

// setOf returns the set that a marker variable refers to.
func (e environment) setOf(variable string) (set []string, ok bool) {
	switch variable {
	case "extra", "extras":
		return e.extras, true
	case "dependency_groups":
		return e.groups, true
	}
	return nil, false
}

func (environment) asksFor(set []string, op, quoted string) (value, ok bool) {
	has := slices.Contains(set, canonicalName(strings.Trim(quoted, `"'`)))
	switch op {
	case "==", "in":
		return has, isQuoted(quoted)
	case "!=", "not in":
		return !has, isQuoted(quoted)
	}
	return false, false
}

func (e environment) valueOf(token string) (string, bool) {
	if isQuoted(token) {
		return token[1 : len(token)-1], true
	}
	value, ok := e.values[strings.ReplaceAll(token, ".", "_")]
	return value, ok
}

func isQuoted(token string) bool {
	return len(token) >= 2 && (token[0] == '"' || token[0] == '\'') && token[len(token)-1] == token[0]
}

func mirrorOperator(op string) string {
	if op[:min(1, len(op))] == "<" {
		return ">" + op[1:]
	}
	if op[:min(1, len(op))] == ">" {
		return "<" + op[1:]
	}
	return op
}

// versionFits reports whether a version matches a specifier. ok is false if either of them is not valid by
// PEP 440.
func versionFits(version, specifier string) (fits, ok bool) {
	specifier = strings.TrimSpace(specifier)
	if specifier == "" || specifier == "*" {
		return true, true
	}
	v, err := pep440.Parse(version)
	if err != nil || len(specifier) > 500 || strings.Contains(specifier, "||") {
		return false, false
	}
	all, err := pep440.NewSpecifiers(specifier, pep440.WithPreRelease(true))
	if err != nil {
		return false, false
	}
	return all.Check(v), true
}
