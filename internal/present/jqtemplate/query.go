package jqtemplate

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

	"company/internal/company"
	"company/internal/lib/boundedparse/jq"
)

// queryPatience is the timeout of a --jq expression for one result. An expression may loop forever.
const queryPatience = time.Minute

// query is a compiled jq expression.
type query struct{ code *gojq.Code }

// ParseQuery parses the expression of --jq. The expression cannot read environment variables or files: its only input
// is the result. The error is EUsage.
func ParseQuery(text string) (Shape, error) {
	refuse := func(reason string) error {
		return company.E(company.EUsage, "invalid --jq expression").Because(reason).
			Fix("--jq '.tasks[] | select(.status == \"failed\") | .id'")
	}
	code, err := jq.Compile(text)
	var at *gojq.ParseError
	switch {
	case errors.As(err, &at):
		before := text[:min(max(0, at.Offset-len(at.Token)), len(text))]
		return nil,
			refuse(fmt.Sprintf("line %d, column %d: %v", 1+strings.Count(before, "\n"),
				len(before)-strings.LastIndexByte(before, '\n'), err))
	case err != nil:
		return nil, refuse(err.Error())
	}
	return query{code}, nil
}

// Print prints the values that the expression returns for a result, one per line. Texts are printed as they are, other
// values as JSON, indented on a terminal.
func (q query) Print(ctx context.Context, w io.Writer, onTerminal bool, v any) error {
	fields, err := decodeFields(onTerminal, v)
	if err != nil {
		return err
	}
	whole := ctx
	ctx, cancel := context.WithTimeoutCause(ctx, queryPatience, fmt.Errorf("it took longer than %s", queryPatience))
	defer cancel()
	fail := func(err error) error {
		return company.E(company.EUsage, "--jq failed on this command's JSON").Because(err.Error()).
			Fix("-o json shows the fields")
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

// indentJSON indents JSON for display.
func indentJSON(text []byte) string {
	var out bytes.Buffer
	if err := json.Indent(&out, text, "", "  "); err != nil {
		return string(text)
	}
	return out.String()
}
