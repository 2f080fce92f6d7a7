package testreport

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strings"
)

// readJUnit reads JUnit XML as pytest, vitest and many others write it. It never expands entities of a
// document type.
func readJUnit(text []byte) *Results {
	res := &Results{}
	d := xml.NewDecoder(bytes.NewReader(text))
	var class, test, name string
	var failed, unrun, skipped, in, any bool
	var message strings.Builder
	depth := 0
	for {
		tok, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil || depth > 1000 {
			res.ParseError = "no JUnit XML"
			return res
		}
		switch t := tok.(type) {
		case xml.StartElement:
			depth++
			switch t.Name.Local {
			case "testsuite", "testsuites":
				any = true
			case "testcase":
				class, test = xmlAttr(t, "classname"), xmlAttr(t, "name")
				name = strings.TrimSpace(class + " " + test)
				failed = false
				unrun = false
				skipped = false
				in = true
				message.Reset()
			case "failure", "error":
				failed = failed || in
				unrun = unrun || in && isCollectionFailure(class, test, xmlAttr(t, "message"))
				message.WriteString(cleanMessage(xmlAttr(t, "message")))
			case "skipped":
				skipped = true
			}
		case xml.EndElement:
			depth--
			if t.Name.Local != "testcase" {
				continue
			}
			in = false
			switch {
			case failed && unrun:
				res.AddUnrun(name, message.String())
			case failed:
				res.AddFailure(name, message.String())
			case skipped:
				res.AddSkip()
			default:
				res.AddPass(name)
			}
		}
	}
	if !any {
		res.ParseError = "no JUnit XML"
	}
	return res
}

// isCollectionFailure reports whether a failure means that the tests of a file could not be collected.
// pytest prints this as the message. vitest reports a test that has the name of its file.
func isCollectionFailure(class, name, message string) bool {
	return strings.HasPrefix(message, "collection failure") || class != "" && class == name
}

func xmlAttr(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}
