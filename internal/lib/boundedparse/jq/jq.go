// Package jq compiles jq expressions and encodes their results, with limits on size and depth.
package jq

import (
	"errors"

	"github.com/itchyny/gojq"
)

const (
	maxText  = 16 << 10 // size of an expression in bytes; the compiler is recursive for its parts
	maxDepth = 1000     // nested levels of a result
)

// Compile compiles an expression.
func Compile(text string) (*gojq.Code, error) {
	if len(text) > maxText {
		return nil, errors.New("the expression is larger than 16 KiB")
	}
	parsed, err := gojq.Parse(text)
	if err != nil {
		return nil, err
	}
	return gojq.Compile(parsed)
}

// Encode encodes a result as JSON. It limits the depth, because an expression can nest a result without limit.
func Encode(value any) ([]byte, error) {
	if isDeeper(value, maxDepth) {
		return nil, errors.New("the result nests too deeply")
	}
	return gojq.Marshal(value)
}

// isDeeper reports whether a value has more than the given number of levels.
func isDeeper(value any, levels int) bool {
	if levels == 0 {
		return true
	}
	switch v := value.(type) {
	case []any:
		for _, inner := range v {
			if isDeeper(inner, levels-1) {
				return true
			}
		}
	case map[string]any:
		for _, inner := range v {
			if isDeeper(inner, levels-1) {
				return true
			}
		}
	}
	return false
}
