package terminalio

import (
	"context"
	"io"
	"os"
	"strings"

	"company/internal/company"
	"company/internal/lib/charset"
)

// maxStored limits the bytes of a stored instruction: PowerShell and Notepad write UTF-16.
const maxStored = 4*company.MaxInstruction + 4

// ReadInstruction reads the instruction of a submission: from the argument, a file, stdin ("-", or
// a pipe without arguments) or the user's editor. An empty instruction returns EUsage.
func (con *Console) ReadInstruction(ctx context.Context, file string, args []string) (string, error) {
	if file == "" && (len(args) == 0 && IsPiped(con.In) || len(args) == 1 && args[0] == "-") {
		file, args = "-", nil
	}
	if editor := con.FindEditor(); file == "" && len(args) == 0 && editor != "" && con.CanPrompt() {
		return con.EditInstruction(ctx, editor)
	}
	text, err := con.instructionText(file, args)
	if err == nil && strings.TrimSpace(text) == "" {
		err = company.E(company.EUsage, "the instruction is empty").
			Fix(`say what to do: company submit "add rate limiting to the API"`)
		if file == "-" {
			err = company.E(company.EUsage, "missing instruction: stdin is empty").
				Fix(`company submit "add rate limiting to the API"`)
		}
	}
	return text, err
}

// instructionText reads the argument, a file, or stdin for the file "-". After stdin is read,
// questions are answered at the terminal.
func (con *Console) instructionText(file string, args []string) (string, error) {
	switch {
	case file != "" && len(args) > 0:
		return "", company.E(company.EUsage, "an instruction and a file cannot be used together").
			Fix(`company submit "…" or company submit -f FILE`)
	case file == "" && len(args) == 0:
		return "", company.E(company.EUsage, "missing instruction").Fix(`company submit "add rate limiting to the API"`)
	case file == "":
		return args[0], nil
	}
	r := con.In
	if file != "-" {
		f, err := os.Open(file)
		if err != nil {
			return "", company.E(company.ENotFound, "the instruction cannot be read").Wrap(err).Fix("name a file that exists")
		}
		defer f.Close()
		r = f
	}
	text, err := io.ReadAll(io.LimitReader(r, maxStored))
	if err != nil {
		return "", company.E(company.EInvalid, "the instruction cannot be read").Wrap(err).Fix("name a text file")
	}
	if file == "-" {
		con.AnswerFromTerminal()
	}
	return charset.DecodeUnicode(text), nil
}
