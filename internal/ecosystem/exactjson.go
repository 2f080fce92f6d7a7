package ecosystem

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// maxJSONDepth limits how deep the objects and lists of a lock file may be nested.
const maxJSONDepth = 1000

// CheckJSON returns an error for a JSON text that two parsers may read differently: it has a duplicate key or an
// invalid character. Go reads every invalid character as U+FFFD, but JavaScript keeps lone surrogates apart.
func CheckJSON(text []byte) error {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	// keys holds the keys of each open object. An open list has a nil map.
	var keys []map[string]bool
	isKey := false
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) && len(keys) == 0 {
			return nil
		}
		if err != nil {
			return errors.New("it is not JSON")
		}
		top := len(keys) - 1
		switch t := token.(type) {
		case json.Delim:
			switch {
			case t == '}' || t == ']':
				keys = keys[:top]
			case len(keys) == maxJSONDepth:
				return errors.New("it is nested too deep")
			case t == '{':
				keys = append(keys, map[string]bool{})
			default:
				keys = append(keys, nil)
			}
			isKey = len(keys) > 0 && keys[len(keys)-1] != nil
			continue
		case string:
			if strings.ContainsRune(t, '\uFFFD') {
				return fmt.Errorf("%q has an invalid character", t)
			}
			if isKey {
				if keys[top][t] {
					return fmt.Errorf("it has %q twice", t)
				}
				keys[top][t] = true
			}
		}
		isKey = !isKey && top >= 0 && keys[top] != nil
	}
}
