/**
 * The script that each shell evaluates once. Typed or stored text is never evaluated: words are passed as arguments, and
 * candidates come back as lines, each with a description after a tab. Without candidates the shell completes file names.
 */

export const SHELLS = ["bash", "zsh", "fish"] as const;
export type CompletingShell = (typeof SHELLS)[number];

/** Compatible with bash 3.2, which macOS has. */
const BASH = `_helmdeck_memory() {
  local line
  COMPREPLY=()
  while IFS= read -r line; do
    COMPREPLY+=("\${line%%$'\\t'*}")
  done < <(helmdeck-memory complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -o default -F _helmdeck_memory helmdeck-memory
`;

const ZSH = `_helmdeck_memory() {
  local -a found
  found=("\${(@f)$(helmdeck-memory complete -- "\${(@Q)words[2,CURRENT]}" 2>/dev/null)}")
  found=("\${(@)found%%$'\\t'*}")
  if [[ -n "\${found[1]}" ]]; then
    compadd -- "\${found[@]}"
  else
    _files
  fi
}
compdef _helmdeck_memory helmdeck-memory
`;

const FISH = `function __helmdeck_memory_complete
    set -l words (commandline -opc)
    set -l found (helmdeck-memory complete -- $words[2..-1] (commandline -ct) 2>/dev/null)
    if test (count $found) -gt 0
        printf '%s\\n' $found
    else
        __fish_complete_path (commandline -ct)
    end
end
complete -c helmdeck-memory -f -a '(__helmdeck_memory_complete)'
`;

export const COMPLETION_SCRIPTS: Readonly<Record<CompletingShell, string>> = {
  bash: BASH,
  zsh: ZSH,
  fish: FISH,
};
