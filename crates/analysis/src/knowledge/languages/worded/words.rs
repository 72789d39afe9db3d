//! The words that a program in Ruby or PHP may use (the manuals of Ruby 3.1 and PHP 8.2, and of the libraries that come with them).

use std::cmp::Ordering;

/// What a function does with the file that its first argument names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Deed {
    Read,
    /// Read, and what it holds may become objects of any class in old versions: a file of the project is its own.
    Load,
    List,
    Write,
    Create,
    /// By its mode, which is the second argument.
    Open,
    /// Names that match a pattern are looked up.
    Search,
    /// A module of the language's own is loaded.
    Require,
    /// Text that matches a pattern is replaced; old versions evaluated what is put in.
    Replace,
    /// Nothing.
    Compute,
}

/// What is known of a language.
#[derive(Debug)]
pub(super) struct Words {
    /// Variables are bare words, and a function is called without parentheses.
    pub(super) has_bare_variables: bool,
    /// Names of functions and classes mean the same in capitals.
    pub(super) folds: bool,
    /// A file may be named by an address.
    pub(super) has_addresses: bool,
    /// Words of the language, and functions that compute, print, or read what is open.
    functions: List,
    /// Functions that the reader does not vouch for, but every program has: no variable can have their names.
    grave: List,
    /// Methods of texts, numbers, lists, tables and times.
    methods: List,
    /// Classes that have no other methods than these where they are named.
    classes: List,
    /// Functions that call what they are given, and which argument that is.
    calls_back: &'static [(&'static str, usize)],
    /// The class, or nothing, the function and what it does.
    deeds: &'static [(&'static str, &'static str, Deed)],
    modules: List,
    pub(super) standard_input: &'static [&'static [u8]],
    pub(super) environment: &'static [&'static [u8]],
    /// Variables by which everything is reached.
    pub(super) grave_variables: &'static [&'static [u8]],
}

/// Words in the order of their bytes, which blanks divide.
#[derive(Debug)]
struct List(&'static str);

impl List {
    fn has(&self, name: &[u8]) -> bool {
        let mut rest = self.0.as_bytes();
        while !rest.is_empty() {
            // The word in the middle, with what is before and behind it.
            let (before, behind) = rest.split_at(rest.len() / 2);
            let start = before.iter().rposition(|byte| *byte == b' ').map_or(0, |at| at + 1);
            let end = behind.iter().position(|byte| *byte == b' ').map_or(rest.len(), |at| before.len() + at);
            match rest.get(start..end).unwrap_or_default().cmp(name) {
                Ordering::Equal => return true,
                Ordering::Less => rest = rest.get(end + 1..).unwrap_or_default(),
                Ordering::Greater => rest = rest.get(..start.saturating_sub(1)).unwrap_or_default(),
            }
        }
        false
    }
}

impl Words {
    pub(super) fn is_function(&self, name: &[u8]) -> bool {
        self.functions.has(name)
    }

    /// Whether no program that has this word is vouched for, or no variable that has it as its name.
    pub(super) fn is_grave(&self, name: &[u8]) -> bool {
        self.grave.has(name)
    }

    pub(super) fn is_method(&self, name: &[u8]) -> bool {
        self.methods.has(name)
    }

    pub(super) fn is_class(&self, name: &[u8]) -> bool {
        self.classes.has(name)
    }

    pub(super) fn is_module(&self, name: &[u8]) -> bool {
        self.modules.has(name)
    }

    /// Whether a word is spelt as constants are, which are no functions where nothing is called.
    pub(super) fn is_constant(&self, word: &[u8]) -> bool {
        word.iter().any(u8::is_ascii_uppercase)
            && word.iter().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || *byte == b'_')
    }

    /// Whether a word means more than to compute before the program says what it means.
    pub(super) fn means(&self, name: &[u8]) -> bool {
        self.is_grave(name)
            || self.calls_back(name).is_some()
            || self.deed(b"", name).is_some()
            || self.standard_input.contains(&name)
            || self.environment.contains(&name)
    }

    pub(super) fn calls_back(&self, name: &[u8]) -> Option<usize> {
        self.calls_back.iter().find(|(known, _)| known.as_bytes() == name).map(|(_, at)| *at)
    }

    pub(super) fn deed(&self, class: &[u8], function: &[u8]) -> Option<Deed> {
        let is = |known: &&(&str, &str, Deed)| known.0.as_bytes() == class && known.1.as_bytes() == function;
        self.deeds.iter().find(is).map(|(.., deed)| *deed)
    }
}

pub(super) static RUBY: Words = Words {
    has_bare_variables: true,
    folds: false,
    has_addresses: false,
    functions: List(
        "Array BEGIN Complex END Float Hash Integer Rational String __FILE__ __LINE__ __dir__ __method__ \
        and begin block_given? break case catch def defined? do else elsif end ensure exit false for \
        format freeze if in lambda loop next nil not or p pp print printf proc putc puts raise rand \
        redo rescue retry return self sleep sprintf srand then throw true unless until warn when while \
        yield",
    ),
    grave: List(
        "URI __send__ abort alias at_exit autoload autoload? binding callcc chomp chop class cp \
        define_method define_singleton_method display enum_for eval exec exit! extend fork gem gets \
        gsub include instance_eval instance_exec instance_variable_get instance_variable_set load \
        method methods module mv open prepend private public public_method public_send readline \
        readlines require require_relative rm rm_rf ruby2_keywords select send set_trace_func sh \
        singleton_class singleton_method spawn sub super syscall system tap test to_enum trace_var trap \
        undef untrace_var using yield_self",
    ),
    methods: List(
        "abs all? alphanumeric any? append at atan base64 begin between? bm bytes bytesize capitalize \
        capitalize! captures cbrt ceil center chars chomp chomp! chop chr chunk_while clear codepoints \
        collect combination compact compact! concat content cos count cycle day days decode64 delete \
        delete_at delete_if detect difference dig digits div divmod downcase downcase! downto drop \
        drop_while dump each each_byte each_char each_cons each_entry each_index each_key each_line \
        each_pair each_slice each_value each_with_index each_with_object empty? encode encode64 \
        encoding end_with? entries eql? equal? escape even? except exp fdiv fetch fetch_values fill \
        filter filter_map find find_all find_index finite? first flat_map flatten flatten! floor flush \
        force_encoding freeze frozen? gcd generate generate_line getc gets group_by gsub gsub! has_key? \
        has_value? hash headers hex hexdigest hour hypot include? index infinite? insert inspect \
        instance_of? integer? intersection invert is_a? iso8601 itself join keep_if key key? keys \
        kind_of? last lcm length lines ljust local log log10 log2 lstrip map map! match match? max \
        max_by measure member? merge merge! message min min_by minmax minute mktime modulo month name \
        named_captures nan? negative? new next next_day next_month nil? none? nonzero? now oct odd? \
        offset one? ord pack parse parse_line partition permutation pi pop positive? post_match pow pp \
        pre_match pred prepend pretty_generate prev_day prev_month print printf product push puts \
        random_bytes random_number rationalize read readline readlines real realtime reject reject! \
        remainder replace report respond_to? reverse reverse! reverse_each rewind rindex rjust rotate \
        round rpartition rstrip sample scan scrub sec second select select! shift shuffle sin size \
        slice slice! slice_when sort sort! sort_by sort_by! split sqrt squeeze start_with? step store \
        strftime strict_decode64 strict_encode64 string strip strip! sub sub! succ sum swapcase sync \
        take take_while tally tan times to_a to_c to_csv to_f to_h to_i to_json to_r to_s to_set to_str \
        to_sym to_time to_yaml today tr tr_s transform_keys transform_values transpose trim truncate \
        unicode_normalize union uniq uniq! unpack unpack1 unshift upcase upcase! upto urlsafe_base64 \
        urlsafe_decode64 urlsafe_encode64 utc uuid valid_encoding? value value? values values_at wday \
        with_index with_object write yday year zero? zip",
    ),
    classes: List(
        "ArgumentError Array Base64 Benchmark BigDecimal Comparable Complex Date DateTime Digest \
        Encoding FalseClass Float Hash IndexError Integer JSON KeyError MD5 Math NameError NilClass \
        NoMethodError Numeric ParserError RUBY_COPYRIGHT RUBY_DESCRIPTION RUBY_ENGINE RUBY_PATCHLEVEL \
        RUBY_PLATFORM RUBY_RELEASE_DATE RUBY_VERSION Range Rational Regexp RuntimeError SHA1 SHA256 \
        SHA512 STDERR STDOUT SecureRandom Set StandardError StopIteration String StringIO Symbol Time \
        TrueClass TypeError UTF_8 ZeroDivisionError",
    ),
    calls_back: &[],
    deeds: &[
        ("File", "read", Deed::Read),
        ("File", "binread", Deed::Read),
        ("File", "readlines", Deed::Read),
        ("File", "foreach", Deed::Read),
        ("File", "open", Deed::Open),
        ("File", "write", Deed::Write),
        ("File", "binwrite", Deed::Write),
        ("File", "exist?", Deed::List),
        ("File", "file?", Deed::List),
        ("File", "directory?", Deed::List),
        ("File", "size", Deed::List),
        ("File", "size?", Deed::List),
        ("File", "zero?", Deed::List),
        ("File", "mtime", Deed::List),
        ("File", "readable?", Deed::List),
        ("File", "executable?", Deed::List),
        ("File", "symlink?", Deed::List),
        ("File", "new", Deed::Open),
        ("Dir", "glob", Deed::Search),
        ("Dir", "[", Deed::Search),
        ("Dir", "entries", Deed::List),
        ("Dir", "children", Deed::List),
        ("Dir", "each_child", Deed::List),
        ("Dir", "exist?", Deed::List),
        ("Dir", "mkdir", Deed::Create),
        ("YAML", "load_file", Deed::Load),
        ("YAML", "safe_load_file", Deed::Read),
        ("JSON", "load_file", Deed::Read),
        ("CSV", "read", Deed::Read),
        ("CSV", "foreach", Deed::Read),
        ("CSV", "open", Deed::Open),
        ("File", "join", Deed::Compute),
        ("File", "basename", Deed::Compute),
        ("File", "dirname", Deed::Compute),
        ("File", "extname", Deed::Compute),
        ("File", "expand_path", Deed::Compute),
        ("Dir", "pwd", Deed::Compute),
        ("YAML", "safe_load", Deed::Compute),
        ("YAML", "dump", Deed::Compute),
        ("CSV", "parse", Deed::Compute),
        ("CSV", "parse_line", Deed::Compute),
        ("CSV", "generate", Deed::Compute),
        ("CSV", "generate_line", Deed::Compute),
        ("Process", "clock_gettime", Deed::Compute),
        ("Process", "pid", Deed::Compute),
        ("", "require", Deed::Require),
    ],
    modules: List(
        "base64 benchmark bigdecimal csv date digest json pp psych securerandom set stringio time yaml",
    ),
    standard_input: &[b"STDIN", b"ARGF", b"$stdin", b"$<", b"gets", b"readlines", b"readline"],
    environment: &[b"ENV"],
    grave_variables: &[
        b"$0",
        b"$:",
        b"$\"",
        b"$LOAD_PATH",
        b"$LOADED_FEATURES",
        b"$PROGRAM_NAME",
        b"$,",
        b"$/",
        b"$;",
        b"$\\",
    ],
};

pub(super) static PHP: Words = Words {
    has_bare_variables: false,
    folds: true,
    has_addresses: true,
    functions: List(
        "__dir__ __file__ __line__ abs addslashes and array array_chunk array_column array_combine \
        array_count_values array_diff array_diff_assoc array_diff_key array_fill array_fill_keys \
        array_flip array_intersect array_intersect_key array_is_list array_key_exists array_key_first \
        array_key_last array_keys array_merge array_merge_recursive array_pad array_pop array_product \
        array_push array_rand array_replace array_reverse array_search array_shift array_slice \
        array_splice array_sum array_unique array_unshift array_values arsort as asort base64_decode \
        base64_encode base_convert basename bcadd bcdiv bcmod bcmul bcpow bcsub bin2hex bindec bool \
        boolval break case catch ceil checkdate chop chr chunk_split const continue cos count crc32 \
        ctype_alnum ctype_alpha ctype_cntrl ctype_digit ctype_lower ctype_punct ctype_space ctype_upper \
        ctype_xdigit curl_version current date date_default_timezone_get date_default_timezone_set \
        decbin dechex decoct default defined die dirname do echo else elseif empty end endfor \
        endforeach endif endwhile error_reporting exit exp explode extension_loaded false fclose feof \
        fflush fgetcsv fgets finally float floatval floor fmod fn for foreach fprintf fputcsv fputs \
        fread ftell function function_exists fwrite gc_collect_cycles gd_info get_debug_type \
        get_loaded_extensions getcwd gethostname getmypid gettype gmdate gmmktime gmp_strval hash \
        hash_algos hash_hmac hex2bin hexdec hrtime html_entity_decode htmlentities htmlspecialchars \
        htmlspecialchars_decode http_build_query iconv if implode in_array ini_get instanceof int \
        intdiv intval is_array is_bool is_float is_infinite is_int is_integer is_nan is_null is_numeric \
        is_object is_string isset iterable iterator_to_array join json_decode json_encode \
        json_last_error json_last_error_msg key key_exists krsort ksort lcfirst lcg_value levenshtein \
        list log log10 log2 ltrim match max mb_convert_encoding mb_detect_encoding mb_internal_encoding \
        mb_str_split mb_strlen mb_strpos mb_strtolower mb_strtoupper mb_strwidth mb_substr md5 \
        memory_get_peak_usage memory_get_usage metaphone microtime min mixed mktime mt_rand mt_srand \
        natcasesort natsort new next nl2br null number_format object octdec opcache_get_status \
        openssl_get_cipher_methods or ord pack parse_url password_get_info password_hash \
        password_verify pathinfo pdo_drivers php_eol php_ini_loaded_file php_ini_scanned_files \
        php_sapi_name php_uname phpversion pi pow preg_grep preg_last_error preg_last_error_msg \
        preg_match preg_match_all preg_quote preg_split prev print print_r printf rand random_bytes \
        random_int range rawurldecode rawurlencode reset return rewind round rsort rtrim serialize \
        settype sha1 shuffle similar_text sin sizeof sleep sort soundex spl_object_id sprintf sqrt \
        str_contains str_ends_with str_getcsv str_ireplace str_pad str_repeat str_replace str_split \
        str_starts_with str_word_count strcasecmp strcmp stream_get_contents stream_get_transports \
        stream_get_wrappers string strip_tags stripos stripslashes stristr strlen strnatcmp strncasecmp \
        strncmp strpos strrchr strrev strrpos strstr strtolower strtotime strtoupper strtr strval \
        substr substr_count substr_replace switch sys_get_temp_dir tan throw time \
        timezone_identifiers_list trim true try ucfirst ucwords uniqid unpack unset urldecode urlencode \
        use usleep utf8_decode utf8_encode var_dump var_export version_compare void vprintf vsprintf \
        while wordwrap xor zend_version",
    ),
    grave: List(
        "assert call_user_func call_user_func_array class copy create_function declare eval exec extends \
        extract global goto include include_once ini_set interface mail namespace parse_str passthru \
        pcntl_exec popen proc_open putenv rename require require_once rmdir shell_exec static system \
        trait unlink",
    ),
    methods: List(
        "add count createfromformat createfromimmutable createfrommutable diff format getarraycopy \
        getcode getline getmessage getname getoffset gettimestamp gettimezone modify offsetexists \
        offsetget setdate settime settimezone sub",
    ),
    classes: List(
        "arrayobject closure dateinterval dateperiod datetime datetimeimmutable datetimezone \
        divisionbyzeroerror error exception invalidargumentexception jsonexception logicexception \
        runtimeexception stdclass throwable typeerror valueerror",
    ),
    calls_back: &[
        ("array_map", 0),
        ("array_filter", 1),
        ("usort", 1),
        ("uasort", 1),
        ("uksort", 1),
        ("array_walk", 1),
        ("array_reduce", 1),
        ("preg_replace_callback", 1),
    ],
    deeds: &[
        ("", "file_get_contents", Deed::Read),
        ("", "file", Deed::Read),
        ("", "readfile", Deed::Read),
        ("", "parse_ini_file", Deed::Read),
        ("", "md5_file", Deed::Read),
        ("", "sha1_file", Deed::Read),
        ("", "getimagesize", Deed::Read),
        ("", "fopen", Deed::Open),
        ("", "file_put_contents", Deed::Write),
        ("", "mkdir", Deed::Create),
        ("", "file_exists", Deed::List),
        ("", "is_file", Deed::List),
        ("", "is_dir", Deed::List),
        ("", "is_readable", Deed::List),
        ("", "is_writable", Deed::List),
        ("", "is_link", Deed::List),
        ("", "filesize", Deed::List),
        ("", "filemtime", Deed::List),
        ("", "realpath", Deed::List),
        ("", "scandir", Deed::List),
        ("", "glob", Deed::Search),
        ("", "preg_replace", Deed::Replace),
    ],
    modules: List(""),
    standard_input: &[b"stdin"],
    environment: &[b"getenv", b"$_ENV", b"$_SERVER"],
    grave_variables: &[b"$GLOBALS", b"$this"],
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_word_is_found_by_its_place() {
        for words in [&RUBY, &PHP] {
            for list in [&words.functions, &words.grave, &words.methods, &words.classes, &words.modules] {
                let words = list.0.split(' ').map(str::as_bytes).filter(|word| !word.is_empty());
                assert!(words.clone().is_sorted_by(|one, next| one < next), "{list:?}");
                assert!(words.clone().all(|word| list.has(word)), "{list:?}");
                for stranger in ["", " ", "zzz", "A zzz"] {
                    assert!(!list.has(stranger.as_bytes()), "{stranger}");
                }
            }
        }
    }

    /// What starts programs, evaluates text or calls by name is among no words that are vouched for.
    #[test]
    fn nothing_grave_is_vouched_for() {
        for words in [&RUBY, &PHP] {
            for name in words.grave.0.split(' ') {
                assert!(!words.is_function(name.as_bytes()) && !words.is_class(name.as_bytes()), "{name}");
            }
            for name in [
                "send",
                "public_send",
                "__send__",
                "instance_eval",
                "class_eval",
                "eval",
                "system",
                "exec",
                "spawn",
                "method",
                "to_proc",
                "call",
                "const_get",
                "instance_exec",
                "define_method",
                "load",
                "popen",
                "open",
                "result",
                "render",
                "unlink",
                "rmtree",
                "chmod",
                "invoke",
                "bindto",
                "fromcallable",
            ] {
                assert!(!words.is_method(name.as_bytes()), "{name}");
            }
        }
    }
}
