package strangers

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

var errNoTestStyle = errors.New("no test of the repository shows how one is added")

// makeGoodChange returns a small function with a test of its own, in files that the
// repository does not have, in the way that its tests are written.
func makeGoodChange(l Listed, from Checkout) ([]File, error) {
	switch l.Stratum {
	case DebianNode, Npm, Generator:
		return nodeChange(from.Dir)
	case GoProxy, DebianGo:
		s, err := Stranger{Name: l.Name}.addGoChange(from)
		return s.Change, err
	case Python:
		return pythonChange(from.Dir)
	case Native:
		return cChange, nil
	case Rust:
		return []File{{"tests/company_clamp.rs", `fn clamp(n: i32, low: i32, high: i32) -> i32 {
    if n < low {
        low
    } else if n > high {
        high
    } else {
        n
    }
}

#[test]
fn stays_within_bounds() {
    assert_eq!([clamp(0, 1, 9), clamp(5, 1, 9), clamp(10, 1, 9)], [1, 5, 9]);
}
`}}, nil
	case PHP:
		return phpChange(from.Dir)
	}
	return nil, errNoTestStyle
}

// nodeTestRE finds tests of Node by their names.
var nodeTestRE = regexp.MustCompile(
	`(^|/)(tests?|__tests__|spec)/.*\.[cm]?[jt]sx?$|[._-](test|spec)\.[cm]?[jt]sx?$|(^|/)tests?\.[cm]?[jt]s$`)

// findTest returns the first test of a tree, by depth and then by name.
func findTest(dir string, is func(name string) bool) (string, error) {
	var found []string
	err := filepath.WalkDir(dir, func(p string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, p)
		if err != nil {
			return err
		}
		if rel = filepath.ToSlash(rel); e.IsDir() &&
			slices.Contains([]string{"node_modules", ".git", "vendor", "dist", "fixtures", "e2e"}, e.Name()) {
			return filepath.SkipDir
		}
		if e.Type().IsRegular() && is(rel) {
			found = append(found, rel)
		}
		return nil
	})
	if err != nil {
		return "", err
	}
	if len(found) == 0 {
		return "", errNoTestStyle
	}
	slices.SortFunc(found, func(a, b string) int {
		if c := strings.Count(a, "/") - strings.Count(b, "/"); c != 0 {
			return c
		}
		return strings.Compare(a, b)
	})
	return found[0], nil
}

// testSuffixRE is what a runner finds tests by.
var testSuffixRE = regexp.MustCompile(`([._-](?:test|spec))?(\.[cm]?[jt]s)x?$`)

// mochaRE finds the words of suites that mocha and its likes run.
var mochaRE = regexp.MustCompile(`\b(it|describe|suite)\(`)

// mochaTest is a test for them, of values that are 1, 5 and 9.
func mochaTest(values string) string {
	return "\ndescribe('company', function () {\n  it('stays within bounds', function () {\n    assert.deepStrictEqual(" +
		values + ", [1, 5, 9]);\n  });\n});\n"
}

// nodeChange writes a test beside the first one, for the runner that one uses.
func nodeChange(dir string) ([]File, error) {
	example, err := findTest(dir, func(name string) bool {
		return nodeTestRE.MatchString(name) && !strings.HasSuffix(name, ".d.ts")
	})
	if errors.Is(err, errNoTestStyle) {
		return untestedNodeChange(dir)
	}
	if err != nil {
		return nil, err
	}
	text, err := readBounded(filepath.Join(dir, filepath.FromSlash(example)))
	if err != nil {
		return nil, err
	}
	manifest, _ := os.ReadFile(filepath.Join(dir, "package.json")) // without one it is the old kind of module
	suffix := testSuffixRE.FindStringSubmatch(example)
	extension := suffix[2]
	words := string(text)
	modern := regexp.MustCompile(`(?m)^import `).MatchString(words)
	uses := func(name string) bool { return regexp.MustCompile(`['"]` + name + `['"]`).MatchString(words) }
	in := func(name string) bool { return strings.Contains(string(manifest), `"`+name+`"`) }
	load := func(name, from string) string {
		if modern {
			return "import " + name + " from '" + from + "';\n"
		}
		return "const " + name + " = require('" + from + "');\n"
	}
	head := "/* eslint-disable */\n"
	if !modern {
		head += "'use strict';\n\n"
	}
	const values = "[0, 5, 10].map((n) => Math.max(1, Math.min(n, 9)))"
	body := ""
	switch {
	case uses("vitest"):
		body = head + "import { expect, it } from 'vitest';\n\nit('stays within bounds', () => {\n  expect(" + values +
			").toEqual([1, 5, 9]);\n});\n"
	case in("mocha") && mochaRE.MatchString(words):
		body = head + load("assert", "assert") + mochaTest(values)
	case in("mocha") && !uses("node:test") && !uses("tape") && !uses("tap") && !uses("ava"):
		// the first file is no test itself
		body = head + load("assert", "assert") + mochaTest(values)
	case uses("node:test"), uses("test") && !in("tape"):
		test := load("{ test }", "node:test")
		body = head + test + load("assert", "assert") + "\ntest('stays within bounds', () => {\n  assert.deepStrictEqual(" +
			values + ", [1, 5, 9]);\n});\n"
	case uses("tape"):
		body = head + load("test", "tape") + "\ntest('stays within bounds', (t) => {\n  t.deepEqual(" + values +
			", [1, 5, 9]);\n  t.end();\n});\n"
	case uses("tap"):
		body = head + load("t", "tap") + "\nt.test('stays within bounds', (t) => {\n  t.same(" + values +
			", [1, 5, 9]);\n  t.end();\n});\n"
	case uses("ava"):
		body = head + load("test", "ava") + "\ntest('stays within bounds', (t) => {\n  t.deepEqual(" + values +
			", [1, 5, 9]);\n});\n"
	case in("jest") || in("@nestjs/testing"):
		body = head + "describe('company', () => {\n  it('stays within bounds', () => {\n    expect(" + values +
			").toEqual([1, 5, 9]);\n  });\n});\n"
	case mochaRE.MatchString(words):
		body = head + load("assert", "assert") + mochaTest(values)
	default:
		body = head + load("assert", "assert") + "\nassert.deepStrictEqual(" + values + ", [1, 5, 9]);\n"
	}
	return []File{{path.Join(path.Dir(example), "company-clamp"+suffix[1]+extension), body}}, nil
}

// untestedNodeChange is for a project without tests: a module that its type checker sees.
func untestedNodeChange(dir string) ([]File, error) {
	folder := "src"
	if _, err := os.Stat(filepath.Join(dir, folder)); err != nil {
		return nil, errNoTestStyle
	}
	if _, err := os.Stat(filepath.Join(dir, "tsconfig.json")); err != nil {
		return nil, errNoTestStyle
	}
	return []File{{folder + "/company-clamp.ts",
		"/** Returns n, or the nearest of low and high when it is beyond them. */\nexport function clamp(n: number, low: " +
			"number, high: number): number {\n  return Math.max(low, Math.min(n, high));\n}\n"}}, nil
}

// pythonChange writes a test beside the first one.
func pythonChange(dir string) ([]File, error) {
	example, err := findTest(dir, func(name string) bool {
		base := path.Base(name)
		return strings.HasSuffix(base, ".py") && (strings.HasPrefix(base, "test_") || strings.HasSuffix(base, "_test.py"))
	})
	if err != nil {
		return nil, err
	}
	return []File{{path.Join(path.Dir(example), "test_company_clamp.py"), `"""Numbers within bounds."""
import unittest


def clamp(number, low, high):
    """Return number, or the nearest of low and high when it is beyond them."""
    return max(low, min(number, high))


class ClampTestCase(unittest.TestCase):
    """Tests of clamp."""

    def test_clamp(self):
        """Numbers stay within bounds."""
        self.assertEqual([clamp(n, 1, 9) for n in (0, 5, 10)], [1, 5, 9])
`}}, nil
}

// phpChange writes a test beside the first one, of the class of tests that it uses.
func phpChange(dir string) ([]File, error) {
	example, err := findTest(dir, func(name string) bool { return strings.HasSuffix(name, "Test.php") })
	if err != nil {
		return nil, err
	}
	text, err := readBounded(filepath.Join(dir, filepath.FromSlash(example)))
	if err != nil {
		return nil, err
	}
	namespace := regexp.MustCompile(`(?m)^namespace [^;]+;`).FindString(string(text))
	if namespace != "" {
		namespace += "\n\n"
	}
	return []File{{path.Join(path.Dir(example), "CompanyClampTest.php"),
		"<?php\n\n" + namespace + `class CompanyClampTest extends \PHPUnit\Framework\TestCase
{
    public function testStaysWithinBounds()
    {
        $this->assertSame([1, 5, 9], array_map(function ($n) { return max(1, min($n, 9)); }, [0, 5, 10]));
    }
}
`}}, nil
}
