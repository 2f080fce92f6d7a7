package console

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"

	"company/internal/company"
	"company/internal/safetext"
)

// editorMark begins what an editor shows below the instruction.
const editorMark = "<!-- company: the instruction is what stands above this line. Leave it empty to submit nothing. -->"

// FindEditor is the person's editor, as git and others find it; "": none is set.
func (con *Console) FindEditor() string {
	for _, name := range []string{"VISUAL", "EDITOR"} {
		if v, ok := con.LookupEnv(name); ok && strings.TrimSpace(v) != "" {
			return v
		}
	}
	return ""
}

// EditInstruction has the person write an instruction in their editor. The file stays,
// and the person reads its name. An empty text, and an editor that fails, are EUsage.
func (con *Console) EditInstruction(ctx context.Context, editor string) (string, error) {
	f, err := os.CreateTemp("", "company-*.md")
	if err != nil {
		return "", company.E(company.EInvalid, "there is no place for the instruction").Wrap(err).Fix("company submit -f FILE")
	}
	name := f.Name()
	_, err = f.WriteString("\n\n" + editorMark + "\n")
	if err := errors.Join(err, f.Close()); err != nil {
		return "", company.E(company.EInvalid, "there is no place for the instruction").Wrap(err).Fix("company submit -f FILE")
	}
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", editor+` "$1"`, "sh", name)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = con.In, con.Err, con.Err
	if err := cmd.Run(); err != nil {
		e := company.E(company.EUsage, "the editor did not end well: "+safetext.EscapeLine(editor, 80)).Wrap(err)
		if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && exit.ExitCode() == 127 { // the shell found no such program
			return "", e.Fix("set VISUAL or EDITOR to an editor that is there, or: company submit -f FILE")
		}
		return "", e.Fix("what you wrote is in " + name + ": company submit -f " + name)
	}
	r, err := os.Open(name)
	if err != nil {
		return "", company.E(company.EInvalid, "the instruction cannot be read").Wrap(err)
	}
	defer r.Close()
	text, err := io.ReadAll(io.LimitReader(r, company.MaxInstruction+int64(len(editorMark))+2))
	if err != nil {
		return "", company.E(company.EInvalid, "the instruction cannot be read").Wrap(err)
	}
	before, _, _ := strings.Cut(string(text), editorMark)
	if before = strings.TrimSpace(before); before == "" {
		_ = os.Remove(name) // nothing is in it
		return "", company.E(company.EUsage, "the instruction is empty, so nothing is submitted").Fix("write what is to be done, and save it")
	}
	con.PrintNote("your instruction is kept in %s", name)
	return before, nil
}
