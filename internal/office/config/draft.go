package config

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"company/internal/lib/lazyregexp"
	"company/internal/present/termtext"
)

// ConfigDraft describes a company.yaml to be written: its values beyond the defaults, and its comments.
type ConfigDraft struct {
	About  []string            // lines at the top of the file
	Models map[string]Model    // profiles to set; if empty, the default stays
	Notes  map[string][]string // comment lines above a section, by section
	All    bool                // include all keys, not only firstKeys
}

// firstKeys are the keys that most people set first. The name of a section includes all of its keys.
var firstKeys = []string{
	"version", "models", "workers.max", "container.dockerfile", "container.setup", "git.base", "forge.kind",
	"forge.token_env",
	"gates.lint", "gates.test", "gates.services", "gates.none", "budget.usd", "budget.tokens", "approvals.plan",
	"approvals.merge", "approvals.pr",
}

// hasKey reports whether the draft names a key, or a key below it.
func (d ConfigDraft) hasKey(path string) bool {
	return d.All || slices.ContainsFunc(firstKeys, func(key string) bool {
		return key == path || strings.HasPrefix(key, path+".") || strings.HasPrefix(path, key+".")
	})
}

// Render returns the draft as a company.yaml. Keys come with their description, and unset keys are comments with their
// defaults. A line that begins with # and no space is a key; removing the # sets it. Texts in comments may come from a
// repository, so each is kept on one line.
func (d ConfigDraft) Render() []byte {
	var b strings.Builder
	prose := func(lines ...string) {
		for _, l := range lines {
			for part := range strings.SplitSeq(termtext.Wrap(strings.TrimSpace(toOneLine(l)), draftWidth-len("# "), ""), "\n") {
				b.WriteString(strings.TrimSpace("# "+strings.TrimSpace(part)) + "\n")
			}
		}
	}
	prose(d.About...)
	def := Default()
	def.setDefaultModels()
	v := reflect.ValueOf(def)
	for i := range v.NumField() {
		f := v.Type().Field(i)
		key, doc := f.Tag.Get("yaml"), f.Tag.Get("doc")
		if !d.hasKey(key) {
			continue
		}
		b.WriteByte('\n')
		prose(d.Notes[key]...)
		switch {
		case key == "version":
			b.WriteString("version: 1\n")
		case key == "models":
			mark, models := "#", def.Models
			if len(d.Models) > 0 {
				mark, models = "", d.Models
			}
			writeKey(&b, mark, 0, key, "", doc)
			for _, name := range slices.Sorted(maps.Keys(models)) {
				writeKey(&b, mark, 1, name, "", "")
				writeProfile(&b, mark, models[name])
			}
		case isLeaf(f.Type):
			writeKey(&b, "#", 0, key, humanValue(v.Field(i)), keyHint(f.Tag))
		default:
			writeKey(&b, "#", 0, key, "", doc)
			d.writeSection(&b, key, v.Field(i), 1)
		}
	}
	return []byte(b.String())
}

// writeSection writes the keys of a section as comments.
func (d ConfigDraft) writeSection(b *strings.Builder, path string, v reflect.Value, depth int) {
	for i := range v.NumField() {
		f := v.Type().Field(i)
		path := path + "." + f.Tag.Get("yaml")
		if !d.hasKey(path) {
			continue
		}
		if isLeaf(f.Type) {
			key, value := f.Tag.Get("yaml"), humanValue(v.Field(i))
			if f.Tag.Get("unset") != "" && v.Field(i).IsZero() {
				key, value = "# "+key, "" // unset means that the key is left out
			}
			writeKey(b, "#", depth, key, value, keyHint(f.Tag))
			continue
		}
		writeKey(b, "#", depth, f.Tag.Get("yaml"), "", f.Tag.Get("doc"))
		d.writeSection(b, path, v.Field(i), depth+1)
	}
}

// writeProfile writes the keys that a profile sets.
func writeProfile(b *strings.Builder, mark string, m Model) {
	v := reflect.ValueOf(m)
	for i := range v.NumField() {
		f, field := v.Type().Field(i), v.Field(i)
		if field.IsZero() {
			continue
		}
		if field.Kind() == reflect.Pointer {
			field = field.Elem()
		}
		if isLeaf(f.Type) {
			writeKey(b, mark, 2, f.Tag.Get("yaml"), humanValue(field), keyHint(f.Tag))
		}
	}
}

const (
	draftWidth    = 100 // of a line
	commentColumn = 34  // column of the comments behind the keys
)

func writeKey(b *strings.Builder, mark string, depth int, key, value, doc string) {
	line := mark + strings.Repeat("  ", depth) + key + ":"
	if value != "" {
		line += " " + value
	}
	if doc == "" {
		b.WriteString(line + "\n")
		return
	}
	if len(line) > commentColumn-2 {
		b.WriteString(line + "\n")
		line = mark
	}
	for part := range strings.SplitSeq(termtext.Wrap(doc, draftWidth-commentColumn-len("# "), ""), "\n") {
		b.WriteString(line + strings.Repeat(" ", commentColumn-len(line)) + "# " + part + "\n")
		line = mark
	}
}

// keyHint returns the description of a key with its allowed values.
func keyHint(tag reflect.StructTag) string {
	doc := tag.Get("doc")
	if words := allowedWords(tag); words != nil {
		doc += ": " + strings.Join(words, " | ")
	}
	return doc
}

// wordRE matches a text that needs no quotes in YAML.
var wordRE = lazyregexp.New(`^[A-Za-z][A-Za-z0-9_./-]*$`)

// humanValue formats a value as a person would write it.
func humanValue(v reflect.Value) string {
	switch v.Interface().(type) {
	case time.Duration:
		word := strings.Trim(yamlValue(v), `"`) // 5m0s
		if short, ok := strings.CutSuffix(word, "m0s"); ok {
			word = short + "m"
		}
		return word
	case Size, AutoSize:
		return strings.Trim(yamlValue(v), `"`) // 4g needs no quotes
	case []string:
		if v.Len() == 0 {
			return "[]"
		}
	}
	value := yamlValue(v)
	if word := strings.Trim(value, `"`); wordRE.MatchString(word) &&
		!slices.Contains(reservedWords, strings.ToLower(word)) {
		return word
	}
	return value
}

// toOneLine replaces line breaks and control characters, so that a text cannot end its comment.
func toOneLine(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' && r != '\t' || r == 0x7f || r >= 0x80 && r < 0xa0 || r == '\u2028' || r == '\u2029' || r == '\ufeff' {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "?"))
	if len(s) > 400 {
		s = strings.ToValidUTF8(s[:400], "") + "..."
	}
	return s
}
