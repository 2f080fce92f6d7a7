package image

import (
	"bytes"
	"context"
	_ "embed" // the script that runs steps
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"company/internal/company"
	"company/internal/container/dockerfile"
	"company/internal/lib/safetext"
	"company/internal/toolbox/toolproto"
)

// Folders and files of the steps of a Dockerfile during the build.
const (
	recipeDir    = "/opt/company/recipe"
	recipeScript = recipeDir + "/step"
)

// recipeStepScript runs one step in a build container: a command as a user of the image,
// a copy, or the creation of a folder. It only needs a shell and the usual tools.
//
//go:embed recipestep.sh
var recipeStepScript []byte

// Limits of the files that a Dockerfile copies.
const (
	maxCopied      = 512 << 20 // bytes
	maxCopiedFile  = 64 << 20
	maxCopiedFiles = 50_000
	copiedAtOnce   = 32 << 20 // bytes that are read together
)

// runRecipe runs the steps of a Dockerfile in order in one build container, as root or as the user set
// by USER. apt is the only network access. The result is committed as one layer.
func (b *Builder) runRecipe(d describedBase, repo Repo, link aptLink, project string) buildFunc {
	return func(ctx context.Context, under *existingImage, s layerStep, work string) (*existingImage, error) {
		base, err := under.baseSettings()
		if err != nil {
			return nil, err
		}
		recipe, err := d.source.Translate(base, d.files, d.ignore)
		if err != nil {
			return nil, err
		}
		s.env = addVariables(recipe.Env)
		job := installJob{name: s.uniqueName(), image: under.id, root: true, access: link.access, project: project,
			timeout: 25 * time.Minute}
		job.stageFiles = func(l *layer) error { return stageRecipe(ctx, repo, recipe, l) }
		job.work = func(h *buildSession) error { return b.runRecipeSteps(h, d, recipe, link) }
		job.collect = func(ctx context.Context, name string) error { return b.commitContainer(ctx, under, s, name) }
		if err := b.runInstall(ctx, job, work); err != nil {
			return nil, err
		}
		image, err := b.findImage(ctx, s)
		if err == nil && image == nil {
			err = errors.New("the daemon lost the image of the Dockerfile")
		}
		return image, err
	}
}

// addVariables returns a function that sets variables in an environment.
func addVariables(set []dockerfile.Variable) func([]string) []string {
	return func(env []string) []string {
		env = slices.DeleteFunc(slices.Clone(env), func(e string) bool {
			name, _, _ := strings.Cut(e, "=")
			return slices.ContainsFunc(set, func(v dockerfile.Variable) bool { return v.Name == name })
		})
		for _, v := range set {
			env = append(env, v.Name+"="+v.Value)
		}
		return env
	}
}

// stageRecipe writes the files that the steps copy, and the steps' scripts.
func stageRecipe(ctx context.Context, repo Repo, recipe dockerfile.Recipe, l *layer) error {
	if err := l.addBytes(strings.TrimPrefix(recipeScript, "/"), 0o755, recipeStepScript); err != nil {
		return err
	}
	var wanted []placedFile
	for i, step := range recipe.Steps {
		dir := strings.TrimPrefix(stepDir(i), "/")
		if step.Run != nil && step.Run.Script != "" {
			if err := l.addBytes(dir+"/script", 0o755, []byte(step.Run.Script)); err != nil {
				return err
			}
		}
		if step.Copy == nil {
			continue
		}
		if err := l.addDir(dir+"/files", 0); err != nil {
			return err
		}
		for _, f := range step.Copy.Files {
			wanted = append(wanted, placedFile{path.Join(dir, "files", f.Place), f})
		}
	}
	return stageCopied(ctx, repo, wanted, l)
}

// stepDir returns the folder of a step's files and script.
func stepDir(i int) string { return fmt.Sprintf("%s/%d", recipeDir, i) }

// placedFile is a file of the commit and its path in the container.
type placedFile struct {
	to string
	dockerfile.CopiedFile
}

// stageCopied writes files of the commit. It reads them in parts to limit the memory.
func stageCopied(ctx context.Context, repo Repo, files []placedFile, l *layer) error {
	seen := map[string]bool{} // if two files have the same path, the last one is used
	files = slices.Clone(files)
	slices.Reverse(files)
	files = slices.DeleteFunc(files, func(f placedFile) bool { was := seen[f.to]; seen[f.to] = true; return was })
	slices.Reverse(files)
	sizes, err := sizeBlobs(ctx, repo, files)
	if err != nil {
		return err
	}
	var part []placedFile
	size := 0
	for i, f := range files {
		part, size = append(part, f), size+sizes[i]
		if size < copiedAtOnce && i+1 < len(files) {
			continue
		}
		if err := writePart(ctx, repo, part, l); err != nil {
			return err
		}
		part, size = nil, 0
	}
	return nil
}

// sizeBlobs returns the sizes of files. It returns an error if they exceed the limits.
func sizeBlobs(ctx context.Context, repo Repo, files []placedFile) ([]int, error) {
	var ids strings.Builder
	for _, f := range files {
		if f.ID != "" {
			ids.WriteString(f.ID + "\n")
		}
	}
	out, err := runGit(ctx, repo.MirrorDir, ids.String(), "cat-file", "--batch-check=%(objectsize)")
	if err != nil {
		return nil, err
	}
	lines := strings.Fields(string(out))
	sizes, total := make([]int, len(files)), 0
	for i, f := range files {
		sizes[i] = len(f.Text)
		if f.ID != "" {
			if len(lines) == 0 {
				return nil, company.E(company.EGit, "git cannot find a file that a Dockerfile copies")
			}
			if _, err := fmt.Sscan(lines[0], &sizes[i]); err != nil {
				return nil, company.E(company.EGit, "git gave no size for a file that a Dockerfile copies").Wrap(err)
			}
			lines = lines[1:]
		}
		if total += sizes[i]; sizes[i] > maxCopiedFile || total > maxCopied || len(files) > maxCopiedFiles {
			return nil, company.E(company.EImage, "the files that a Dockerfile copies are too many or too large").
				Because(fmt.Sprintf("the limits are %d MiB a file, %d MiB and %d files in all", maxCopiedFile>>20, maxCopied>>20,
					maxCopiedFiles)).
				Fix("copy what the steps need, or list the others in .dockerignore").NeedsPerson()
		}
	}
	return sizes, nil
}

// writePart writes one part of the commit's files.
func writePart(ctx context.Context, repo Repo, part []placedFile, l *layer) error {
	var ids strings.Builder
	for _, f := range part {
		if f.ID != "" {
			ids.WriteString(f.ID + "\n")
		}
	}
	all, err := runGit(ctx, repo.MirrorDir, ids.String(), "cat-file", "--batch=%(objectsize)")
	if err != nil {
		return err
	}
	for _, f := range part {
		data := []byte(f.Text)
		if f.ID != "" {
			head, rest, _ := bytes.Cut(all, []byte{'\n'})
			n := -1
			if _, err := fmt.Sscan(string(head), &n); err != nil || n < 0 || n >= len(rest) {
				return company.E(company.EGit, "git's output for a file that a Dockerfile copies is incomplete")
			}
			data, all = rest[:n:n], rest[n+1:]
		}
		switch f.Mode {
		case "120000":
			err = l.addLink(f.to, string(data))
		case "100755":
			err = l.addBytes(f.to, 0o755, data)
		default:
			err = l.addBytes(f.to, 0o644, data)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// runRecipeSteps runs the steps in a container and then removes their temporary files.
func (b *Builder) runRecipeSteps(h *buildSession, base describedBase, recipe dockerfile.Recipe, link aptLink) error {
	if prepare := link.setupScript(); prepare != "" {
		if r, err := h.runCommand("", prepare, nil); err != nil || r.ExitCode != 0 {
			return errors.Join(err, fmt.Errorf("prepare apt for the steps: %s", strings.TrimSpace(r.Text())))
		}
	}
	for i, step := range recipe.Steps {
		h.step = fmt.Sprintf("%s:%d: %s", safetext.EscapeLine(base.source.Path, 100), step.Line, safetext.Cut(step.Text, 100))
		b.reportProgress("%s", h.step)
		runResult, err := h.runCommand("", stepCommand(i, step), nil)
		if err != nil {
			return err
		}
		if runResult.ExitCode != 0 {
			return recipeError(base, step, runResult)
		}
	}
	const hasTools = "for p in sh git; do command -v $p >/dev/null || { echo $p; exit 1; }; done"
	if runResult, err := h.runCommand("", hasTools, nil); err != nil || runResult.ExitCode != 0 {
		if err != nil {
			return err
		}
		return company.E(company.EImage,
			"the image of "+safetext.EscapeLine(base.source.Path, 100)+" has no "+
				safetext.EscapeLine(strings.TrimSpace(runResult.Stdout.String()), 20)).
			Because("workers and checks need a shell and git").
			Fix("add this line to it: RUN apt-get update && apt-get install -y --no-install-recommends git").NeedsPerson()
	}
	r, err := h.runCommand("", link.cleanupScript()+"; rm -rf "+recipeDir+" "+installToolbox+" "+buildOut+
		"; rmdir --ignore-fail-on-non-empty /opt/company 2>/dev/null || true", nil)
	if err == nil && r.ExitCode != 0 {
		err = fmt.Errorf("clear up after the steps: %s", strings.TrimSpace(r.Text()))
	}
	return err
}

// stepCommand returns the command line of a step.
func stepCommand(i int, step dockerfile.Step) string {
	words := []string{"/bin/sh", recipeScript}
	switch {
	case step.Run != nil:
		words = append(words, "run", step.User, step.Dir, "DEBIAN_FRONTEND=noninteractive")
		for _, v := range step.Env { // set explicitly: steps must not see the toolbox's own variables
			words = append(words, v.Name+"="+v.Value)
		}
		for _, a := range step.Run.Argv {
			if a == dockerfile.ScriptPath {
				a = stepDir(i) + "/script"
			}
			words = append(words, a)
		}
	case step.Copy != nil:
		kind := "file"
		if step.Copy.Folder {
			kind = "folder"
		}
		words = append(words, "copy", stepDir(i)+"/files", step.Copy.To, kind, step.Copy.Owner, step.Copy.Mode)
	default:
		words = append(words, "mkdir", step.Folder)
	}
	for i, w := range words {
		words[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
	}
	return strings.Join(words, " ")
}

// wantsNetwork lists messages of programs that try to reach an outside host.
var wantsNetwork = []string{
	"Could not resolve", "could not resolve", "Temporary failure resolving", "Temporary failure in name resolution",
	"Name or service not known", "getaddrinfo", "bad address",
	"no such host", "EAI_AGAIN", "Network is unreachable", "network is unreachable",
	"Failed to establish a new connection", "dial tcp", "Connection refused", "ECONNREFUSED", "unable to resolve",
	"DNS lookup error", "network error (check", "temporary error (try again later)",
}

// saysUnreachable reports whether a program's output has a line about an outside host that it could not
// resolve or reach. Our own mirror is not an outside host.
func saysUnreachable(text string) bool {
	mirror := strings.TrimPrefix(MirrorURL, "http://")
	for line := range strings.Lines(text) {
		if !strings.Contains(line, mirror) &&
			slices.ContainsFunc(wantsNetwork, func(m string) bool { return strings.Contains(line, m) }) {
			return true
		}
	}
	return false
}

// recipeError returns the error of a failed step: its line, the end of its output, and one fix. The
// error needs a person, because the same step fails again, unless apt failed to reach our own mirror.
func recipeError(base describedBase, step dockerfile.Step, runResult toolproto.RunResult) error {
	text := strings.TrimSpace(runResult.Text())
	contains := func(m string) bool { return strings.Contains(text, m) }
	mirrorFailed := false // with an error that another attempt may avoid
	for line := range strings.Lines(text) {
		mirrorFailed = mirrorFailed ||
			strings.Contains(line, MirrorURL) &&
				slices.ContainsFunc(temporaryErrors, func(m string) bool { return strings.Contains(line, m) })
	}
	said := strings.TrimSpace(runResult.Stdout.String() + "\n" + runResult.Stderr.String())
	fault := company.E(company.EImage,
		fmt.Sprintf("%s:%d: a step of the worker image failed (%s)", safetext.EscapeLine(base.source.Path, 100),
			step.Line, safetext.Cut(step.Text, 120))).
		Because(fmt.Sprintf("exit code %d", runResult.ExitCode)).Wrap(errors.New(endOfOutput(said)))
	fault.Details = text
	switch {
	case mirrorFailed:
		return fault.Fix("try again: Debian's packages could not be downloaded")
	case contains("Unable to locate package"), contains("has no installation candidate"):
		return fault.Fix("steps can only reach the packages of Debian " + debianSuite +
			", after `apt-get update`: start FROM an image of Debian " + debianSuite +
			", or FROM one that has the package").NeedsPerson()
	case saysUnreachable(text):
		return fault.Fix("steps can only reach Debian's packages, by apt (" + debianSuite +
			"): keep what the step downloads in the repository and COPY it, or install it with apt").NeedsPerson()
	}
	return fault.Fix("fix the step: only apt has a network, as with docker build --network=none").
		NeedsPerson()
}

// endOfOutput returns the last lines of a step's output, about one screen.
func endOfOutput(text string) string {
	lines := strings.Split(text, "\n")
	lines = lines[max(0, len(lines)-12):]
	for i, l := range lines {
		lines[i] = safetext.EscapeLine(l, 160)
	}
	return strings.Join(lines, "\n")
}
