package ciconfig

import (
	"fmt"
	"strings"
	"testing"

	"company/internal/ecosystem/ecosystemtest"
)

// stepsOf prints the steps of all definitions: the script, its folder, and why the CI judges no change by it.
func stepsOf(files map[string]string) string {
	var out []string
	for _, d := range ReadDefinitions(ecosystemtest.Tree(files)) {
		for _, j := range d.Jobs {
			for _, s := range j.Steps {
				line := strings.TrimSpace(s.Script)
				if s.Dir != "" {
					line += " in " + s.Dir
				}
				if s.Elsewhere {
					line += " elsewhere"
				}
				if s.Aside != "" {
					line += ": " + s.Aside
				}
				out = append(out, line)
			}
		}
	}
	return strings.Join(out, "\n")
}

func compareSteps(t *testing.T, files map[string]string, want string) {
	t.Helper()
	if got := stepsOf(files); got != strings.TrimSpace(want) {
		t.Errorf("got\n%s\nwant\n%s", got, strings.TrimSpace(want))
	}
}

// What runs on other systems than Linux alone checks nothing here. What the CI does not judge a change by is kept with
// the reason.
func TestStepsThatJudgeNoChange(t *testing.T) {
	t.Parallel()
	compareSteps(t, map[string]string{".github/workflows/a.yml": `on: [push]
jobs:
  test:
    runs-on: ${{ matrix.os }}
    strategy: {matrix: {os: [ubuntu-latest, windows-latest], include: [{os: windows-latest, task: win}, {os: ubuntu-latest, task: lin}]}}
    steps:
      - run: all
      - {run: win, if: runner.os == 'Windows'}
      - {run: mac, if: "${{ matrix.os == 'macos-latest' && always() }}"}
      - {run: win, if: "startsWith(matrix.os, 'windows')"}
      - {run: other, if: runner.os != 'Linux'}
      - {run: other, if: "!startsWith(matrix.os, 'ubuntu')"}
      - {run: newer, if: matrix.os != 'ubuntu-22.04'}
      - {run: unix, if: runner.os != 'Windows'}
      - {run: either, if: "runner.os == 'Windows' || runner.os == 'Linux'"}
      - {run: nightly, if: github.event_name == 'schedule'}
      - {run: tagged, if: "success() && startsWith(github.ref, 'refs/tags/v')"}
      - {run: soft, continue-on-error: true}
      - {run: asked, continue-on-error: true, id: one}
      - {run: exit 1, if: steps.one.outcome == 'failure'}
      - {run: "do ${{ matrix.task }}"}
  mac:
    runs-on: ${{ matrix.os }}
    strategy: {matrix: {os: [macos-13, windows-2022]}}
    steps: [{run: mac}]
  own:
    runs-on: [self-hosted, macOS]
    steps: [{run: mac}]
  soft:
    continue-on-error: true
    steps: [{run: job}]
`,
		".github/workflows/b.yml": "on: {schedule: [{cron: x}], workflow_dispatch: }\njobs: {n: {steps: [{run: night}]}}\n",
		".github/workflows/c.yml": "on: {push: {tags: [v*]}}\njobs: {n: {steps: [{run: release}]}}\n",
		".github/workflows/d.yml": "on: {push: {tags: [v*], branches: [main]}, schedule: }\njobs: {n: {steps: [{run: " +
			"push}]}}\n",
		".github/workflows/e.yml": "on: workflow_call\njobs: {n: {steps: [{run: called}]}}\n",
	}, `
all
newer
unix
either
nightly: its CI does not run it for a change
tagged: its CI does not run it for a change
soft: its CI goes on when it fails
asked
exit 1
do lin
job: its CI goes on when it fails
night: its CI does not run it for a change
release: its CI does not run it for a change
push
called
`)
}

// A job may check out other repositories, or this one in a folder.
func TestCheckoutsOfOthers(t *testing.T) {
	t.Parallel()
	compareSteps(t, map[string]string{".github/workflows/a.yml": `jobs:
  beside:
    steps:
      - uses: actions/checkout@v4
      - {uses: actions/checkout@v4, with: {repository: o/other, path: other}}
      - run: root
      - {run: theirs, working-directory: other/sub}
      - {run: ours, working-directory: others}
  within:
    steps:
      - {uses: actions/checkout@v4, with: {repository: o/other}}
      - run: theirs
      - {uses: actions/checkout@v4, with: {path: ./us/}}
      - run: theirs too
      - {run: ours, working-directory: us/web}
  fork:
    steps:
      - {uses: actions/checkout@v4, with: {repository: "${{ github.event.pull_request.head.repo.full_name }}", path: src/us}}
      - {run: ours, working-directory: src/us}
      - run: beside us
  gopath:
    defaults: {run: {working-directory: "${{ env.GOPATH }}/src/${{ github.repository }}"}}
    steps:
      - {uses: actions/checkout@v4, with: {path: "${{ env.GOPATH }}/src/${{ github.repository }}"}}
      - run: ours
      - {run: sub, working-directory: "${{ env.GOPATH }}/src/${{ github.repository }}/sub"}
      - {run: beyond, working-directory: "${{ env.GOPATH }}/bin"}
`}, `
root
theirs elsewhere: it checks another repository
ours in others
theirs elsewhere: it checks another repository
theirs too elsewhere: it checks another repository
ours in web
ours
beside us elsewhere
ours
sub in sub
beyond elsewhere
`)
}

// A pipeline of GitLab has the files of the tree that it includes, and the scripts that its jobs refer to; jobs that
// never run are none.
func TestPipelineOfManyFiles(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		".gitlab-ci.yml": `include:
  - local: /ci/base.yml
  - local: 'ci/jobs/*.yml'
  - template: Security/SAST.gitlab-ci.yml
  - project: a/b
    file: c.yml
  - https://example.com/x.yml
child:
  trigger: {include: ci/child.yml}
test:
  extends: .base
  script:
    - !reference [.more, script]
    - make test
`,
		"ci/base.yml":       "include: ci/base.yml\n.base: {before_script: [cd web]}\n.more: {script: [one, two]}\n",
		"ci/jobs/lint.yml":  "lint: {script: make lint}\n",
		"ci/jobs/notes.txt": "no: {script: no}\n",
		"ci/child.yml": `never: {rules: [{when: never}], script: no}
windows: {tags: [windows-x64], script: no}
manual: {when: manual, script: manual}
nightly: {rules: [{if: '$CI_PIPELINE_SOURCE == "schedule"'}], script: nightly}
soft: {allow_failure: true, script: soft}
ruled: {rules: [{if: '$A', when: never}, {if: '$CI_PIPELINE_SOURCE == "schedule"'}, {when: on_success}], script: ruled}
`,
	}
	compareSteps(t, files, `
cd web
one
two
make test
make lint
manual: its CI does not run it for a change
nightly: its CI does not run it for a change
soft: its CI goes on when it fails
ruled
`)
	d := ReadDefinitions(ecosystemtest.Tree(files))[0]
	var named []string
	for _, a := range d.Foreign {
		named = append(named, fmt.Sprintf("%s:%d", a.Name, a.Line))
	}
	if got := strings.Join(
		named, " "); got != "include Security/SAST.gitlab-ci.yml:4 include a/b:5 include https://example.com/x.yml:7" ||
		d.Problem != "" {
		t.Errorf("%s %s", got, d.Problem)
	}
	var at []string
	for _, j := range d.Jobs {
		for _, s := range j.Steps {
			at = append(at, fmt.Sprintf("%s:%d %v", s.File, s.Line, s.Continues))
		}
	}
	if got := strings.Join(at[:5], "|"); got != ":2 false|:3 true|:3 true|:14 true|ci/jobs/lint.yml:1 false" {
		t.Error(got)
	}
}

// Names with wildcards, each held to each file of a large tree, are bounded together.
func TestManyIncludesEnd(t *testing.T) {
	t.Parallel()
	files := map[string]string{".gitlab-ci.yml": "include:\n" + strings.Repeat("  - '**/a*b*c*.yml'\n", 5000) +
		"j: {script: make}\n"}
	for i := range 2000 {
		files[fmt.Sprintf("f/a%d.yml", i)] = ""
	}
	if d := ReadDefinitions(ecosystemtest.Tree(files))[0]; !strings.Contains(d.Problem, "too many names") ||
		len(d.Jobs) != 1 {
		t.Errorf("%q, %d jobs", d.Problem, len(d.Jobs))
	}
}

// A workflow of others that a job runs is not there to read, and is named.
func TestWorkflowsOfOthers(t *testing.T) {
	t.Parallel()
	d := ReadDefinitions(ecosystemtest.Tree(map[string]string{
		".github/workflows/a.yml": "jobs:\n  a: {uses: ./.github/workflows/b.yml}\n  b:\n    uses: " +
			"o/r/.github/workflows/ci.yml@v1\n",
	}))[0]
	if len(d.Foreign) != 1 || d.Foreign[0].Name != "o/r/.github/workflows/ci.yml" || d.Foreign[0].Line != 3 {
		t.Errorf("%+v", d.Foreign)
	}
}

// A script that stands in a file once may be one of each job, by an alias, and one for each value of a matrix: 57 KB
// came to two gigabytes and minutes.
func TestScriptsAreBounded(t *testing.T) {
	t.Parallel()
	text := "x: &s |\n" + strings.Repeat("  echo a ${{ matrix.x }}\n", 2000) +
		"jobs:\n  j: &j\n    strategy: {matrix: {x: [a, b, c, d, e, f, g, h]}}\n    steps:\n" +
		strings.Repeat("      - {run: *s}\n", 25)
	for i := range 199 {
		text += fmt.Sprintf("  j%d: *j\n", i)
	}
	total := 0
	defs := ReadDefinitions(
		ecosystemtest.Tree(
			map[string]string{".github/workflows/a.yml": text, ".github/workflows/b.yml": "jobs: {a: {steps: [{run: x}]}}\n"}))
	for _, d := range defs {
		for _, j := range d.Jobs {
			for _, s := range j.Steps {
				total += len(s.Script)
			}
		}
		if d.Problem != errScripts {
			t.Errorf("%s: %q", d.File, d.Problem)
		}
	}
	if total == 0 || total > maxScripts {
		t.Errorf("%d bytes of scripts", total)
	}
}

// Actions that use one another, and references that lead to others, are bounded without a script, too: each of these
// would be looked at 10¹¹ times.
func TestUsesOfUsesEnd(t *testing.T) {
	t.Parallel()
	const many = 4000
	files := map[string]string{".github/workflows/a.yml": "jobs: {j: {steps: [{uses: ./a}]}}\n"}
	for _, at := range []string{"ab", "bc", "cd"} {
		files[at[:1]+"/action.yml"] = "runs:\n  steps:\n" + strings.Repeat("    - uses: ./"+at[1:]+"\n", many)
	}
	text := "j: {script: [!reference [.a, s]]}\n"
	for _, at := range []string{"ab", "bc", "cd"} {
		text += "." + at[:1] + ":\n  s:\n" + strings.Repeat("    - [."+at[1:]+", s]\n", many/4)
	}
	files[".gitlab-ci.yml"] = text + ".d: {s: []}\n"
	for _, d := range ReadDefinitions(ecosystemtest.Tree(files)) {
		if d.Problem != errScripts {
			t.Errorf("%s: %q", d.File, d.Problem)
		}
	}
}

// A variable that the definition writes out is put into a script as the CI does.
func TestVariablesInScripts(t *testing.T) {
	t.Parallel()
	compareSteps(t, map[string]string{".github/workflows/a.yml": `env: {TOOL: cargo, SECRET: "${{ secrets.A }}"}
jobs: {j: {steps: [{run: "${{ env.TOOL }} test ${{ env.FLAGS }} ${{ env.SECRET }} ${{ env.NONE }}", env: {FLAGS: -q}}]}}
`}, "cargo test -q ${{ env.SECRET }} ${{ env.NONE }}")
}
