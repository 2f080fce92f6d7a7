package company

import (
	"crypto/sha256"
	"encoding/hex"

	"company/internal/company/jcs"
)

// HashOf returns the SHA-256 of the canonical JSON of v. A value without canonical JSON is an EInvalid error.
func HashOf(v any) (Hash, error) {
	text, err := jcs.Marshal(v)
	if err != nil {
		return "", E(EInvalid, err.Error())
	}
	sum := sha256.Sum256(text)
	return Hash(hex.EncodeToString(sum[:])), nil
}
