package gates

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"company/internal/company"
	"company/internal/container"
	"company/internal/ecosystem"
	"company/internal/gitops"
	"company/internal/lib/safetext"
	"company/internal/lib/shellquote"
)

// changedFile is a file that commands have changed, as reported by their container.
type changedFile struct {
	path  string
	plain bool // a regular file that is not executable
	text  []byte
}

// Limits for the files generated for a merge.
const (
	maxGenerated      = 32 << 20 // bytes of all files
	maxGeneratedFiles = 2000
	generateTimeout   = 10 * time.Minute
)

// runGenerators runs the commands of a generation on its tree. If they run out of memory or disk space and this host
// has more, it retries in a larger container. An error means that no result could be determined.
func (r *Runner) runGenerators(
	ctx context.Context, state *company.State, task *company.Task, mirror *gitops.Mirror, g generation,
) (ecosystem.Generated, error) {
	if len(g.formatScript()) > maxArgument {
		return ecosystem.Generated{Why: "too many files would have to be generated"}, nil
	}
	image, refused, err := r.imageFor(ctx, task, mirror, g.of)
	if err != nil || refused != "" {
		return ecosystem.Generated{Why: refused, MayPass: true}, err
	}
	if r.LimitsByProject != nil {
		memory, disk := task.Baseline.Needs()
		r.LimitsByProject.Learn(mirror.Dir(), container.Need{Memory: memory, Disk: disk})
	}
	job := Job{Mirror: mirror, Tree: g.of, Image: image, Label: string(task.ID), Epoch: state.Office.Epoch}
	for limits, roomier := r.limitsFor(job), false; ; {
		made, err := r.runGenerator(ctx, job, g, limits)
		more := false
		switch {
		case r.LimitsByProject == nil || ctx.Err() != nil:
		case errors.Is(err, errOutOfMemory):
			limits, more = r.LimitsByProject.Grow(mirror.Dir(), limits.WithDefaults().MemoryBytes)
		case errors.Is(err, errDiskFull) && !roomier:
			limits, more = r.LimitsByProject.GrowDisk(mirror.Dir(), limits)
			roomier = true
		}
		switch {
		case more:
		case errors.Is(err, errOutOfMemory) || errors.Is(err, errDiskFull):
			return made, nil
		default:
			return made, err
		}
	}
}

// errDiskFull means that the container's work space was full.
var errDiskFull = errors.New("gates: no space left for files")

// runGenerator runs the commands in one container with the limits of a gate, offline. Its output is untrusted:
// checkMade decides which files count. MayPass is set if the host's load or the container's size may be the cause of
// a failure.
func (r *Runner) runGenerator(
	ctx context.Context, job Job, g generation, limits container.Limits,
) (ecosystem.Generated, error) {
	limit := generateTimeout
	if r.Timeout > 0 {
		limit = min(limit, r.Timeout)
	}
	cctx, cancel := context.WithTimeoutCause(ctx, limit, errTimeout)
	defer cancel()
	labels := container.Labels{Office: r.Office, Run: job.Label, Epoch: job.Epoch, Role: "gate"}
	files, printed := &boundedBuffer{most: maxGenerated}, newOutputBuffer()
	exit, err := r.runScript(cctx, job,
		container.Spec{Name: labels.Name("generate", g.of.Short()), Labels: labels, Limits: limits}, g.formatScript(),
		files, printed)
	commands, output := describeCommands(g.commands), printed.headAndTail()
	failed := fmt.Sprintf("%s failed (exit code %d): %s", commands, exit.Code, lastWords(output))
	switch {
	case errors.Is(err, errDiskFull):
		return ecosystem.Generated{Why: commands + " had no room for the tree", MayPass: true}, err
	case err != nil && !errors.Is(err, errNotBegun) && errors.Is(context.Cause(cctx), errTimeout) && ctx.Err() == nil:
		return ecosystem.Generated{Why: fmt.Sprintf("%s was ended after %s", commands, limit), MayPass: true}, nil
	case err != nil:
		return ecosystem.Generated{}, err
	case exit.OOMKilled:
		return ecosystem.Generated{Why: commands + " ran out of memory", MayPass: true}, errOutOfMemory
	case files.full:
		return ecosystem.Generated{Why: fmt.Sprintf("%s makes more than %s", commands, container.Size(maxGenerated))}, nil
	case exit.Code != 0 && isDiskFull(output):
		return ecosystem.Generated{Why: failed, MayPass: true}, errDiskFull
	case exit.Code != 0:
		return ecosystem.Generated{Why: failed, MayPass: exit.Code == company.ExitKilled}, nil
	}
	changed, reason := readChanged(&files.text)
	if reason != "" {
		return ecosystem.Generated{Why: commands + " " + reason}, nil
	}
	return g.checkMade(ctx, job.Mirror, changed)
}

// lastWords returns the last line of an output.
func lastWords(output string) string {
	lines := strings.Split(strings.TrimSpace(output), "\n")
	return strings.TrimSpace(lines[len(lines)-1])
}

// formatScript returns the shell script that runs the commands and packs the files that they changed, as git reports
// them. Files that the project ignores do not count. The files to generate get an old time first: generators that
// compare times then rebuild them, and a file that was not written is detected. The commands' output goes to stderr
// and their leftover processes are killed, so that stdout has only the archive.
func (g generation) formatScript() string {
	var conflicts strings.Builder
	for _, name := range slices.Sorted(maps.Keys(g.files)) {
		conflicts.WriteString(" " + shellquote.QuoteArgument("./"+name))
	}
	var b strings.Builder
	b.WriteString(`tree=$PWD
g() { git -c core.quotePath=false -c core.autocrlf=false --git-dir=/tmp/generated.git --work-tree="$tree" "$@"; }
rm -rf /tmp/generated.git && git init -q --bare /tmp/generated.git && g add -A . >&2 || exit
touch -t 200001010000 /tmp/generated.old || exit
`)
	fmt.Fprintf(&b, "touch -c -r /tmp/generated.old --%s%s || exit\n", conflicts.String(), g.listCovered())
	for _, c := range g.commands {
		// The closing parenthesis is on its own line because a command may end in a comment.
		fmt.Fprintf(&b, "( cd -- \"$tree\" && %s\n) </dev/null >&2 || { code=$?; kill -9 -1 2>/dev/null; exit $code; }\n", c)
	}
	fmt.Fprintf(&b, `kill -9 -1 2>/dev/null
cd -- "$tree" || exit
for f in%s; do
	test -f "$f" && test ! -L "$f" || { echo "$f is not there" >&2; exit 1; }
	test "$f" -nt /tmp/generated.old || { echo "$f was not written" >&2; exit 1; }
done
gone=$(g diff --name-only --diff-filter=D) || exit
test -z "$gone" || { echo "$gone was removed" >&2; exit 1; }
{ g diff --name-only && g ls-files --others --exclude-standard; } | sed 's|^|./|' >/tmp/generated.files || exit
printf '%%s\n'%s >>/tmp/generated.files
sort -u /tmp/generated.files >/tmp/generated.all || exit
{ tar -cf - -T /tmp/generated.all; echo $? >/tmp/generated.code; } | head -c %d
exit "$(cat /tmp/generated.code)"
`, conflicts.String(), conflicts.String(), maxGenerated+1)
	return b.String()
}

// listCovered returns the tree's files that the config assigns to the commands, as shell arguments.
func (g generation) listCovered() string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(g.in)) {
		if rule := findRule(g.rules, name); rule != nil && slices.Contains(g.commands, rule.command) && g.files[name] == "" &&
			g.in[name].Mode == gitops.ModeFile {
			b.WriteString(" " + shellquote.QuoteArgument("./"+name))
		}
	}
	return b.String()
}

// readChanged reads the archive of changed files. reason is set if it cannot be trusted. A short archive may claim
// very long texts as sparse files, so the total size is limited here.
func readChanged(from io.Reader) (out []changedFile, reason string) {
	tr, left := tar.NewReader(from), int64(maxGenerated)
	for {
		header, err := tr.Next()
		if errors.Is(err, io.EOF) {
			return out, ""
		}
		if err != nil {
			return nil, "gives files that cannot be read: " + err.Error()
		}
		if len(out) == maxGeneratedFiles {
			return nil, fmt.Sprintf("changes more than %d files", maxGeneratedFiles)
		}
		name := path.Clean(header.Name)
		if path.IsAbs(name) || name == "." || name == ".." || strings.HasPrefix(name, "../") {
			return nil, "makes a file outside of the repository"
		}
		if isSparse(header) {
			return nil, "gives files that cannot be read: " + safetext.EscapeLine(name, 100) + " is sparse"
		}
		if header.Size > left {
			return nil, "makes more than " + container.Size(maxGenerated)
		}
		f := changedFile{path: name, plain: header.Typeflag == tar.TypeReg && header.Mode&0o111 == 0}
		var text bytes.Buffer
		n, err := io.Copy(&text, io.LimitReader(tr, left))
		if err != nil {
			return nil, "gives files that cannot be read: " + err.Error()
		}
		left -= n
		f.text = text.Bytes()
		out = append(out, f)
	}
}

// isSparse reports whether an entry has holes that the reader would fill. The script's tar creates none.
func isSparse(header *tar.Header) bool {
	return header.Typeflag == tar.TypeGNUSparse ||
		slices.ContainsFunc(slices.Collect(maps.Keys(header.PAXRecords)),
			func(k string) bool { return strings.HasPrefix(k, "GNU.sparse.") })
}
