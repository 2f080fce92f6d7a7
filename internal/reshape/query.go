package reshape

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/itchyny/gojq"

	"company/internal/boundedparse/jq"
	"company/internal/company"
)

// queryPatience is how long an expression of --jq may take for one result. An
// expression can run for ever.
const queryPatience = time.Minute

// query is an expression of jq.
type query struct{ code *gojq.Code }

// ParseQuery reads an expression of --jq. It sees no variable of the environment and
// reads no file: its text comes from the result. Another text is EUsage.
func ParseQuery(text string) (Shape, error) {
	refuse := func(why string) error {
		return company.E(company.EUsage, "--jq is no expression of jq").Because(why).Fix("--jq '.tasks[] | select(.status == \"failed\") | .id'")
	}
	code, err := jq.Compile(text)
	var at *gojq.ParseError
	switch {
	case errors.As(err, &at):
		before := text[:min(max(0, at.Offset-len(at.Token)), len(text))]
		return nil, refuse(fmt.Sprintf("line %d, column %d: %v", 1+strings.Count(before, "\n"), len(before)-strings.LastIndexByte(before, '\n'), err))
	case err != nil:
		return nil, refuse(err.Error())
	}
	return query{code}, nil
}

// Print prints what the expression makes of a result, a value to a line: texts as they
// are, all else as JSON, indented on a terminal.
func (q query) Print(ctx context.Context, w io.Writer, onTerminal bool, v any) error {
	fields, err := decodeFields(onTerminal, v)
	if err != nil {
		return err
	}
	whole := ctx
	ctx, cancel := context.WithTimeoutCause(ctx, queryPatience, fmt.Errorf("it took longer than %s", queryPatience))
	defer cancel()
	fail := func(err error) error {
		return company.E(company.EUsage, "--jq does not fit this command's JSON").Because(err.Error()).Fix("-o json shows the fields")
	}
	for values := q.code.RunWithContext(ctx, fields); ; {
		value, more := values.Next()
		if !more {
			return nil
		}
		var halt *gojq.HaltError
		switch err, failed := value.(error); {
		case failed && whole.Err() != nil:
			return context.Cause(whole)
		case failed && ctx.Err() != nil:
			return fail(context.Cause(ctx))
		case failed && errors.As(err, &halt) && halt.Value() == nil:
			return nil
		case failed:
			return fail(err)
		}
		text, ok := value.(string)
		if !ok {
			encoded, err := jq.Encode(value)
			if err != nil {
				return fail(err)
			}
			text = string(encoded)
			if onTerminal {
				text = indentJSON(encoded)
			}
		}
		if _, err := fmt.Fprintln(w, text); err != nil {
			return err
		}
	}
}

// indentJSON is JSON for eyes.
func indentJSON(text []byte) string {
	var out bytes.Buffer
	if err := json.Indent(&out, text, "", "  "); err != nil {
		return string(text)
	}
	return out.String()
}
