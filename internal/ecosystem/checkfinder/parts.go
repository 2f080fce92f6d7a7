package checkfinder

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"company/internal/ecosystem"
	"company/internal/lib/lazyregexp"
)

// publishRE matches the name of a target or script that tests before it does another task.
var publishRE = lazyregexp.New(
	`(?i)(^|[-_:./])(pre|post)?(publish(only)?|release|deploy|pack|prepare|version|install|setup|docs?|start|serve|dev|run|watch|clean|bump|upload|commit|push)($|[-_:./])`)

// publishingRE matches the name of a script file that does so.
var publishingRE = lazyregexp.New(
	`(?i)(^|[-_])(publish|release|deploy|pack|package|install|setup|docs?|start|serve|watch|clean|bump|upload|push)($|[-_.])`)

// kindOfParts returns the kind of check of a target or script by the commands that it runs: make ci, npm run unit. It
// returns "" for one that prepares or publishes.
func (c *collector) kindOfParts(one call, at string) string {
	key := one.commandKey()
	_, name, _ := strings.Cut(key, " ")
	if key == "" || slices.Contains(preparing, name) || publishRE.MatchString(name) ||
		publishingRE.MatchString(path.Base(key)) || slices.ContainsFunc(one.words, asksToWatch) {
		return ""
	}
	key = scopeKey(key, at)
	if f := c.scriptFiles(path.Join(at, skipInterpreter(one.unwrapCommand())[0])); f != nil && len(c.scripts[key]) == 0 {
		c.tree.ReadTexts(f, func(f ecosystem.File, text []byte) {
			if shellFileRE.Match(text) || strings.HasSuffix(f.Path, ".sh") {
				c.scripts[key] = []string{string(text)}
			}
		})
	}
	return c.kindOfKey(key, at)
}

// shellFileRE matches the first line of a shell script.
var shellFileRE = lazyregexp.New(`^#!.*\b(ba|da|z)?sh\b`)

// kindOfKey returns the kind of check for the key of a target or script. Results are cached.
func (c *collector) kindOfKey(key, at string) (kind string) {
	if known, ok := c.kinds[key]; ok || len(c.scripts[key]) == 0 || c.room < 0 {
		return known
	}
	if c.kinds == nil {
		c.kinds = map[string]string{}
	}
	c.kinds[key] = "" // ends recursion if it runs itself
	for _, runs := range c.scripts[key] {
		c.room--
		for _, inner := range c.parse(runs) {
			own := inner.checkKind()
			if key := inner.commandKey(); own == "" && key != "" {
				in := path.Join(at, inner.dir)
				own = c.kindOfKey(scopeKey(key, in), in)
			}
			if kind = cmp.Or(kind, own); own == Test {
				kind = Test
			}
		}
	}
	c.kinds[key] = kind
	return kind
}
