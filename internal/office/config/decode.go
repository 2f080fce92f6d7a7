package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"company/internal/company"
	"company/internal/lib/lazyregexp"
)

// decoder writes nodes into a Config and collects problems.
type decoder struct {
	problems problems
	onSet    func(key, at string) // called for each value that was set
}

// profileRE matches the name of a model profile.
var profileRE = lazyregexp.New(`^[a-z0-9][a-z0-9_-]{0,31}$`)

func (d *decoder) addProblem(n node, key, what, allowed string) {
	p := problem{at: n.at, key: key, what: what, found: n.describeValue(), fix: "allowed: " + allowed}
	if n.kind == nodeNull {
		p.what = "has no value"
		p.found = ""
		p.fix = "give it one or remove the key; allowed: " + allowed
	}
	d.problems = append(d.problems, p)
}

// addRefusal adds a problem for the error of a parser or a check.
func (d *decoder) addRefusal(n node, key string, err error) {
	var w *valueError
	if !errors.As(err, &w) {
		w = &valueError{err.Error(), "another value"}
	}
	d.addProblem(n, key, w.what, w.allowed)
}

// decodeValue writes n into v, a field with the given tag.
func (d *decoder) decodeValue(v reflect.Value, n node, key string, tag reflect.StructTag) {
	if n.kind == nodeInvalid {
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		p := reflect.New(v.Type().Elem())
		before := len(d.problems)
		d.decodeValue(p.Elem(), n, key, tag)
		if len(d.problems) == before {
			v.Set(p)
		}
		return
	case reflect.Map:
		d.decodeProfiles(v, n, key)
		return
	case reflect.Struct:
		if _, leaf := v.Interface().(Command); !leaf {
			d.decodeStruct(v, n, key)
			return
		}
	}
	if unset := tag.Get("unset"); unset != "" && n.text == "" && (n.kind == nodeText || n.kind == nodeUntyped) {
		// An empty text often comes from a variable that was not set. The default would then be a service or an API key that
		// the user did not choose.
		d.problems = append(d.problems,
			problem{at: n.at, key: key, what: "is empty", fix: "write its value, or leave the key out for " + unset})
		return
	}
	if err := setLeaf(v, n, tag); err != nil {
		if w := (*valueError)(nil); errors.As(err, &w) && tag.Get("check") == "env_name" && n.kind != nodeNull {
			// Do not show the value: it may be the secret itself.
			d.problems = append(d.problems, problem{at: n.at, key: key, what: w.what, fix: "allowed: " + w.allowed})
			return
		}
		if p := (*problem)(nil); errors.As(err, &p) {
			p.at, p.key = n.at, key
			d.problems = append(d.problems, *p)
			return
		}
		d.addRefusal(n, key, err)
		return
	}
	d.onSet(key, n.at)
}

func (p *problem) Error() string { return p.formatLine() }

// decodeStruct writes a mapping into a struct.
func (d *decoder) decodeStruct(v reflect.Value, n node, key string) {
	names := sectionKeys(v.Type())
	if n.kind != nodeMap {
		d.addProblem(n, key, "must be a mapping", strings.Join(names, ", "))
		return
	}
	for _, nodeField := range n.fields {
		i := slices.Index(names, nodeField.key)
		if i < 0 {
			d.reportUnknownKey(nodeField, key, names)
			continue
		}
		t := v.Type().Field(i)
		d.decodeValue(v.Field(i), nodeField.node, joinKey(key, nodeField.key), t.Tag)
	}
}

// keyWords are names under which people look for a place for a model's key.
var keyWords = strings.Fields("api_key apikey api-key key token secret")

func (d *decoder) reportUnknownKey(f nodeField, parent string, names []string) {
	p := problem{at: f.at, what: "unknown key " + shortenText(quoteIfOdd(joinKey(parent, f.key)))}
	if strings.HasPrefix(parent, "models.") && slices.Contains(keyWords, strings.ToLower(f.key)) {
		p.fix = "a key stands in no file: take this line out, write api_key_env with the name of a variable, such as " +
			"OPENAI_API_KEY, and export that variable"
	} else if near := nearestKey(f.key, names); near != "" {
		p.fix = "did you mean " + joinKey(parent, near) + "?"
	} else if far := findLeaf(f.key); far != "" {
		p.fix = "did you mean " + far + "?"
	} else {
		p.fix = "allowed: " + strings.Join(names, ", ")
	}
	d.problems = append(d.problems, p)
}

// quoteIfOdd returns a name, quoted if it has characters that may not be visible.
func quoteIfOdd(name string) string {
	if strings.ContainsFunc(name, func(r rune) bool { return r > '~' || r < '!' }) {
		return strconv.Quote(name)
	}
	return name
}

// decodeProfiles writes models. A profile replaces one with the same name.
func (d *decoder) decodeProfiles(v reflect.Value, n node, key string) {
	if n.kind != nodeMap {
		d.addProblem(n, key, "must be a mapping", "profile names with adapter, model, ...")
		return
	}
	for _, nodeField := range n.fields {
		if !profileRE.MatchString(nodeField.key) {
			d.problems = append(d.problems,
				problem{at: nodeField.at, key: key,
					what: "has a profile with the name " + shortenText(strconv.Quote(nodeField.key)),
					fix:  "allowed: up to 32 of a-z, 0-9, _ and -, a letter or digit first"})
			continue
		}
		m := reflect.New(v.Type().Elem()).Elem()
		m.Set(reflect.ValueOf(Model{Tools: Auto, Images: Auto}))
		before := len(d.problems)
		d.decodeValue(m, nodeField.node, joinKey(key, nodeField.key), "")
		if m.Interface().(Model).Adapter == "" && len(d.problems) == before {
			d.problems = append(d.problems, problem{at: nodeField.at, key: joinKey(key, nodeField.key), what: "has no adapter",
				fix: "add adapter: openai, ollama, anthropic or scripted"})
		}
		v.SetMapIndex(reflect.ValueOf(nodeField.key), m)
	}
}

// setLeaf parses a scalar or a list into v.
func setLeaf(v reflect.Value, n node, tag reflect.StructTag) error {
	word := n.text
	text := n.kind == nodeText || n.kind == nodeUntyped
	number := n.kind == nodeNumber || n.kind == nodeUntyped
	switch p := v.Addr().Interface().(type) {
	case *time.Duration:
		return setBounded(p, n, text, tag, durationForm, parseDuration)
	case *Size:
		return setBounded(p, n, text, tag, sizeForm, parseSize)
	case *AutoSize:
		if text && word == Auto {
			*p = 0
			return nil
		}
		return allowAlso(Auto, setBounded((*Size)(p), n, text, tag, sizeForm, parseSize))
	case *USD:
		return setBounded(p, n, number, tag, usdForm, parseUSD)
	case *USDCap:
		if text && word == None {
			*p = USDCap(company.NoCap)
			return nil
		}
		return allowAlso(None, setBounded((*USD)(p), n, number, tag, usdForm, parseUSD))
	case *TokenCap:
		switch {
		case text && word == Auto:
			*p = TokensAuto
			return nil
		case text && word == None:
			*p = TokenCap(company.NoCap)
			return nil
		}
		return allowAlso(Auto+", "+None, setBounded(p, n, number, tag, tokensForm, parseTokens[TokenCap]))
	case *TokenLimit:
		if text && word == None {
			*p = TokenLimit(company.NoCap)
			return nil
		}
		return allowAlso(None, setBounded(p, n, number, tag, tokensForm, parseTokens[TokenLimit]))
	case *Command:
		return setCommand(p, n)
	case *[]string:
		list, err := parseTexts(n)
		if err != nil {
			return err
		}
		for i, s := range list {
			if err := checkText(tag, s); err != nil {
				return err
			}
			if slices.Contains(list[:i], s) && tag.Get("check") != "command" {
				return &valueError{"has " + shortenText(strconv.Quote(s)) + " twice", "each once"}
			}
		}
		*p = list
		return nil
	case *string:
		if !text {
			return notAllowed(describeAllowed(tag))
		}
		if words := allowedWords(tag); words != nil {
			if !slices.Contains(words, word) {
				w := &valueError{"is not one of the words allowed", strings.Join(words, ", ")}
				if near := nearestKey(word, words); near != "" {
					w.allowed += " (did you mean " + near + "?)"
				}
				return w
			}
		} else if err := checkText(tag, word); err != nil {
			return err
		}
		*p = word
		return nil
	case *bool:
		b, err := strconv.ParseBool(word)
		if err != nil || n.kind != nodeBool && (n.kind != nodeUntyped || word != "true" && word != "false") {
			return notAllowed("true or false")
		}
		*p = b
		return nil
	case *int:
		allowed := "a whole number from " + tag.Get("min") + " to " + tag.Get("max")
		return setBounded(p, n, number, tag, allowed, func(s string) (int, error) {
			i, err := parseInt(s, allowed)
			return int(i), err
		})
	case *float64:
		allowed := "a number from " + tag.Get("min") + " to " + tag.Get("max")
		return setBounded(p, n, number, tag, allowed, func(s string) (float64, error) {
			f, err := strconv.ParseFloat(s, 64)
			if err != nil || math.IsNaN(f) || math.IsInf(f, 0) {
				return 0, notAllowed(allowed)
			}
			return f, nil
		})
	}
	panic(fmt.Sprintf("office: no rule for a config value of type %s", v.Type()))
}

// setBounded parses a node into p and checks the bounds of its tag. right reports whether the node has the right kind;
// if not, the error describes the allowed values.
func setBounded[T ~int | ~int64 | ~float64](
	p *T, n node, right bool, tag reflect.StructTag, allowed string, parse func(string) (T, error),
) error {
	if !right {
		return notAllowed(allowed)
	}
	v, err := parse(n.text)
	if err == nil {
		err = checkBounds(float64(v), tag, func(s string) float64 { bound, _ := parse(s); return float64(bound) })
	}
	if err == nil {
		*p = v
	}
	return err
}

// allowAlso adds a value to the allowed values in an error.
func allowAlso(word string, err error) error {
	if w := (*valueError)(nil); errors.As(err, &w) {
		w.allowed = word + ", or " + w.allowed
	}
	return err
}

// checkBounds checks a number against the min and max of its tag.
func checkBounds(f float64, tag reflect.StructTag, parse func(string) float64) error {
	lo, hi := tag.Get("min"), tag.Get("max")
	allowed := "from " + lo + " to " + hi
	switch {
	case f < 0 && lo != "":
		return &valueError{"is negative", allowed}
	case lo != "" && f < parse(lo):
		return &valueError{"is too small", allowed}
	case hi != "" && hi == lo:
		if f > parse(hi) {
			return &valueError{"is that of a newer company", hi + "; or update company"}
		}
	case hi != "" && f > parse(hi):
		return &valueError{"is too large", allowed}
	}
	return nil
}

// parseInlineList parses a list in file syntax, [a, b], from the environment or a flag.
func parseInlineList(n node) (list node, ok bool) {
	root, problems := parseYAML(n.at, []byte("list: "+n.text))
	if len(problems) > 0 || root.kind != nodeMap || len(root.fields) != 1 || root.fields[0].node.kind != nodeList {
		return node{}, false
	}
	return root.fields[0].node, true
}

// parseTexts parses a list of texts. From the environment it is separated by commas, or in file syntax.
func parseTexts(n node) ([]string, error) {
	if n.kind == nodeUntyped && strings.HasPrefix(strings.TrimSpace(n.text), "[") {
		list, ok := parseInlineList(n)
		if !ok {
			return nil, notAllowed(`a list of texts, such as ["a", "b"] or a,b`)
		}
		n = list
	}
	if n.kind == nodeUntyped {
		if strings.TrimSpace(n.text) == "" {
			return nil, nil
		}
		list := strings.Split(n.text, ",")
		for i := range list {
			list[i] = strings.TrimSpace(list[i])
		}
		return list, nil
	}
	if n.kind != nodeList {
		return nil, notAllowed("a list of texts, such as [a, b]")
	}
	if len(n.items) > 256 {
		return nil, &valueError{fmt.Sprintf("has %d entries", len(n.items)), "up to 256"}
	}
	var list []string
	for _, item := range n.items {
		if item.kind != nodeText {
			return nil, notAllowed("a list of texts, such as [a, b]")
		}
		list = append(list, item.text)
	}
	return list, nil
}

func setCommand(command *Command, n node) error {
	const allowed = "auto, none, a command, or a list of arguments"
	// A shell line may also begin with a bracket: [ -f x ].
	if n.kind == nodeUntyped && json.Valid([]byte(n.text)) && strings.HasPrefix(strings.TrimSpace(n.text), "[") {
		if list, ok := parseInlineList(n); ok {
			n = list
		}
	}
	if n.kind == nodeList {
		argv, err := parseTexts(n)
		if err != nil || len(argv) == 0 || argv[0] == "" {
			return notAllowed(allowed)
		}
		for _, a := range argv {
			if strings.ContainsRune(a, 0) {
				return notAllowed(allowed)
			}
		}
		*command = Command{Argv: argv}
		return nil
	}
	if n.kind != nodeText && n.kind != nodeUntyped || strings.TrimSpace(n.text) == "" || len(n.text) > maxLineBytes ||
		strings.ContainsRune(n.text, 0) {
		return notAllowed(allowed)
	}
	if n.text == Auto || n.text == None {
		*command = Command{Mode: n.text}
	} else {
		*command = Command{Line: n.text}
	}
	return nil
}

func joinKey(parent, key string) string {
	if parent == "" {
		return key
	}
	return parent + "." + key
}

// sectionKeys returns the keys of a section, in the order of its fields.
func sectionKeys(t reflect.Type) []string {
	names := make([]string, t.NumField())
	for i := range names {
		names[i] = t.Field(i).Tag.Get("yaml")
	}
	return names
}

// findLeaf returns the full name of the key called name in another section. It returns "" unless there is exactly one.
func findLeaf(name string) string {
	found := ""
	t := reflect.TypeFor[Config]()
	for s := range t.Fields() {
		if s.Type.Kind() == reflect.Struct && slices.Contains(sectionKeys(s.Type), name) {
			if found != "" {
				return ""
			}
			found = s.Tag.Get("yaml") + "." + name
		}
	}
	return found
}
