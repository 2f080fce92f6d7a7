package ciconfig

import (
	"fmt"
	"strings"
	"testing"

	"company/internal/ecosystem/ecosystemtest"
)

// printed is what tests compare: everything that was read.
func printed(defs []Definition) string {
	var b strings.Builder
	for _, d := range defs {
		fmt.Fprintf(&b, "%s %s\n", d.File, d.Problem)
		for _, j := range d.Jobs {
			fmt.Fprintf(&b, "  %s:%d %s %v\n", j.Name, j.Line, j.Image, j.Env)
			for _, s := range j.Services {
				fmt.Fprintf(&b, "    + %s %s %v %v:%d\n", s.Name, s.Image, s.Env, s.Ports, s.Line)
			}
			for _, s := range j.Steps {
				fmt.Fprintf(&b, "    %d %q in %q\n", s.Line, s.Script, s.Dir)
			}
		}
	}
	return b.String()
}

func TestReadDefinitions(t *testing.T) {
	tree := ecosystemtest.Tree(map[string]string{
		".github/workflows/ci.yml": `name: CI
on: push
env: {A: "1"}
defaults: {run: {working-directory: ./web}}
jobs:
  test:
    runs-on: ${{ matrix.os }}
    env: {B: 2}
    services:
      db:
        image: postgres:16
        env: {POSTGRES_PASSWORD: x}
        ports: ["5432:5432"]
      cache: {image: redis}
    steps:
      - uses: actions/checkout@v4
      - run: npm ci
      - name: test
        run: |
          npm test
          npm run lint
        working-directory: ../../etc
      - run: Get-Item .
        shell: pwsh
  other:
    runs-on: windows-latest
    steps: [{run: dir}]
`,
		".github/workflows/broken.yaml": "jobs:\n  a: [\n",
		".github/workflows/notes.md":    "jobs:",
		".gitlab-ci.yml": `variables: {PG: {value: "a", description: b}}
.base:
  image: {name: "python:3.12"}
  before_script: &setup
    - pip install -e .
default:
  services: [{name: "registry.example.com/postgres:15", alias: db}]
test:
  extends: [.base, .base]
  script:
    - *setup
    - |
      pytest -q
`,
		".travis.yml": "language: python\nservices: [postgresql]\nscript: make check\n",
	})
	const want = `.github/workflows/broken.yaml line 2: sequence end token ']' not found
.github/workflows/ci.yml 
  test:6  map[A:1 B:2]
    + db postgres:16 map[POSTGRES_PASSWORD:x] [5432:5432]:10
    + cache redis map[] []:14
    17 "npm ci" in "web"
    20 "npm test\nnpm run lint\n" in ""
.gitlab-ci.yml 
  test:8 python:3.12 map[PG:a]
    + db registry.example.com/postgres:15 map[] []:7
    5 "pip install -e ." in ""
    5 "pip install -e ." in ""
    13 "pytest -q\n" in ""
.travis.yml 
  script:3  map[]
    + postgresql postgresql map[] []:2
    3 "make check" in ""
`
	if got := printed(ReadDefinitions(tree)); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// What is switched off checks nothing, and no service of it runs.
func TestSwitchedOffJobsAreLeftOut(t *testing.T) {
	got := printed(ReadDefinitions(ecosystemtest.Tree(map[string]string{
		".github/actions/check/action.yml": `runs:
  steps:
    - {run: make old, shell: bash, if: false}
    - {run: make check, shell: bash}
`,
		".github/workflows/ci.yml": `jobs:
  bench:
    if: false
    services: {redis: {image: "redis:7"}}
    steps: [{run: make bench}]
  lint:
    if: ${{ False }}
    steps: [{uses: golangci/golangci-lint-action@v6}]
  test:
    if: ${{ false || true }}
    steps:
      - {run: make slow, if: "false"}
      - {run: make test, if: "github.event_name == 'push'"}
      - uses: ./.github/actions/check
`})))
	const want = `.github/workflows/ci.yml 
  test:9  map[]
    13 "make test" in ""
    4 "make check" in ""
`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// Templates that extend one another in a circle, thousands of jobs, and shapes that
// no CI knows cost little and name nothing.
func TestReadDefinitionsOfOddFiles(t *testing.T) {
	many := "jobs:\n"
	for i := range 900 {
		many += fmt.Sprintf("  j%d: {steps: [{run: a}]}\n", i)
	}
	tree := ecosystemtest.Tree(map[string]string{
		".github/workflows/a.yml": "jobs: [1, 2]\n",
		".github/workflows/b.yml": "jobs: {a: , b: [], c: {steps: {run: 1}}, d: {services: [x], steps: [1, {run: {x: " +
			"y}}]}}\n",
		".github/workflows/c.yml": many,
		".github/workflows/d.yml": "  \n",
		".gitlab-ci.yml":          "a: {extends: b}\nb: {extends: [a, b]}\nc: 1\nd: {script: {a: b}}\n",
		".travis.yml":             "- a\n",
	})
	for _, d := range ReadDefinitions(tree) {
		n := 0
		for _, j := range d.Jobs {
			n += len(j.Steps)
		}
		// Of what is beyond the bounds the file says that it was not read.
		if (d.Problem != "") != (d.File == ".github/workflows/c.yml") || n > maxJobs ||
			n > 0 && d.File != ".github/workflows/c.yml" {
			t.Errorf("%s: %d steps, %s", d.File, n, d.Problem)
		}
	}
}

// Templates that extend eight others each, and those eight each, are sixteen million ways to a key.
// This test did not end before each template of a job was asked once.
func TestTemplatesOfTemplates(t *testing.T) {
	text := ".last: {image: found}\n.a: {extends: [.last, .a, .a, .a, .a, .a, .a, .a]}\n"
	for i := range 100 {
		text += fmt.Sprintf("j%d: {extends: [.a, .a, .a, .a, .a, .a, .a, .a], script: x}\n", i)
	}
	jobs := ReadDefinitions(ecosystemtest.Tree(map[string]string{".gitlab-ci.yml": text}))[0].Jobs
	if len(jobs) != 100 || jobs[99].Image != "found" {
		t.Errorf("%d jobs, the last %+v", len(jobs), jobs[len(jobs)-1])
	}
}

// Each job has the variables of its file, so their number is multiplied.
func TestVariablesAreBounded(t *testing.T) {
	text := "env:\n  FIRST: a\n"
	for i := range 5000 {
		text += fmt.Sprintf("  V%d: 1\n", i)
	}
	text += "jobs: {j: {env: {FIRST: b}, steps: [{run: a}]}}\n"
	env := ReadDefinitions(ecosystemtest.Tree(map[string]string{".github/workflows/a.yml": text}))[0].Jobs[0].Env
	if len(env) != 500 || env["V0"] != "1" || env["FIRST"] != "b" {
		t.Errorf("%d variables", len(env))
	}
}

// Steps of an action that the repository has itself are steps of the job; actions that use one another,
// or lie out of the tree, end.
func TestLocalActions(t *testing.T) {
	defs := ReadDefinitions(ecosystemtest.Tree(map[string]string{
		".github/workflows/ci.yml": "jobs:\n  a:\n    steps:\n      - uses: ./.github/actions/check\n      - uses: " +
			"./../outside\n      - uses: ./nothing\n",
		".github/actions/check/action.yml": "runs:\n  using: composite\n  steps:\n    - run: make check\n      shell: " +
			"bash\n    - {run: dir, shell: pwsh}\n    - uses: ./circle\n",
		"circle/action.yaml": "runs: {steps: [{uses: ./circle}, {run: make circle, shell: sh, working-directory: sub}]}\n",
		"outside/action.yml": "runs: {steps: [{run: make outside, shell: sh}]}\n",
	}))
	var got []string
	for _, s := range defs[0].Jobs[0].Steps {
		got = append(got, fmt.Sprintf("%s:%d %s in %q", s.File, s.Line, s.Script, s.Dir))
	}
	const want = `.github/actions/check/action.yml:4 make check in ""|circle/action.yaml:1 make circle in "sub"|circle/action.yaml:1 make circle in "sub"`
	if strings.Join(got, "|") != want {
		t.Errorf("%s", strings.Join(got, "|"))
	}
}
