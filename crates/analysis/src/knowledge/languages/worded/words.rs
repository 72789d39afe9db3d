//! The words that a program in Ruby or PHP may use (the manuals of Ruby 3.1 and PHP 8.2, and of the libraries that come with them).

use std::sync::OnceLock;

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

/// Words, which blanks divide. They are put in order by the first who asks: a long program asks about each of its own, and a short one
/// about a few.
#[derive(Debug)]
struct List {
    text: &'static str,
    ordered: OnceLock<Vec<&'static [u8]>>,
}

impl List {
    const fn of(text: &'static str) -> Self {
        Self { text, ordered: OnceLock::new() }
    }

    fn has(&self, name: &[u8]) -> bool {
        let ordered = self.ordered.get_or_init(|| {
            let mut words: Vec<_> = self.text.split(' ').map(str::as_bytes).collect();
            words.sort_unstable();
            words
        });
        ordered.binary_search(&name).is_ok()
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
    functions: List::of(
        "puts print p pp printf sprintf format putc rand srand sleep exit raise loop lambda proc block_given? \
        catch throw freeze Integer Float String Array Rational Complex Hash if elsif else unless case when \
        in then while until for do end begin rescue ensure retry redo next break return yield and or not \
        true false nil self def defined? BEGIN END __FILE__ __LINE__ __method__ __dir__ warn",
    ),
    grave: List::of(
        "system exec spawn fork open eval binding trap syscall callcc load require require_relative autoload \
        autoload? exit! abort at_exit test select gets readline readlines send public_send __send__ method \
        methods singleton_method public_method instance_eval instance_exec instance_variable_set \
        instance_variable_get define_singleton_method extend include prepend using public private \
        define_method set_trace_func trace_var untrace_var \
        display tap yield_self gem URI gsub sub chomp chop \
        class module alias undef super to_enum enum_for singleton_class \
        ruby2_keywords sh rm rm_rf mv cp",
    ),
    methods: List::of(
        "abs all? any? append atan between? bytes bytesize capitalize capitalize! ceil center chars chomp \
        chomp! chop chr chunk_while clear codepoints collect combination compact compact! concat content \
        count cycle day days delete delete_at delete_if detect difference dig digits div divmod downcase \
        downcase! downto drop drop_while dump each each_byte each_char each_cons each_entry each_index \
        each_key each_line each_pair each_slice each_value each_with_index each_with_object empty? encode \
        encoding end_with? entries eql? equal? even? except fdiv fetch fetch_values fill filter filter_map \
        find find_all find_index first flat_map flatten flatten! floor flush force_encoding freeze frozen? \
        gcd generate getc gets group_by gsub gsub! has_key? has_value? hex hexdigest hour include? index \
        insert inspect instance_of? integer? intersection invert is_a? iso8601 itself join keep_if key key? \
        keys kind_of? last lcm length lines ljust local lstrip map map! match match? max max_by member? \
        merge merge! message min min_by minmax minute modulo month name named_captures negative? new next \
        nil? none? now nonzero? oct odd? one? ord pack parse partition permutation pop positive? post_match \
        pow pp pre_match pred prepend pretty_generate print printf product push puts rationalize read \
        readline readlines reject reject! remainder replace respond_to? reverse reverse! reverse_each rewind \
        rindex rjust rotate round rpartition rstrip sample scan scrub sec second select select! shift \
        shuffle size slice slice! slice_when sort sort! sort_by sort_by! split sqrt squeeze start_with? step \
        store strftime string strip strip! sub sub! succ sum swapcase sync take take_while tally times to_a \
        to_c to_f to_h to_i to_json to_r to_s to_set to_str to_sym to_time to_yaml today tr tr_s \
        transform_keys transform_values transpose trim truncate unicode_normalize union uniq uniq! unpack \
        unpack1 unshift upcase upcase! upto utc valid_encoding? value value? values values_at wday \
        with_index with_object write yday year zero? zip captures begin offset hash nan? infinite? finite? \
        prev_day next_day prev_month next_month uuid random_number random_bytes base64 urlsafe_base64 \
        alphanumeric escape realtime measure bm report real strict_decode64 strict_encode64 encode64 \
        urlsafe_encode64 decode64 urlsafe_decode64 pi log log2 log10 sin cos tan exp hypot cbrt at mktime \
        headers to_csv parse_line generate_line",
    ),
    classes: List::of(
        "JSON Time Date DateTime Set Math Comparable Float Integer String Array Hash Symbol Range Regexp \
        Rational Complex SecureRandom Digest SHA256 SHA1 MD5 SHA512 Base64 Benchmark BigDecimal Numeric \
        NilClass TrueClass FalseClass StandardError ArgumentError TypeError RuntimeError KeyError IndexError \
        ZeroDivisionError NoMethodError NameError ParserError StopIteration Encoding UTF_8 RUBY_VERSION \
        RUBY_PLATFORM RUBY_ENGINE STDOUT STDERR StringIO RUBY_PATCHLEVEL RUBY_RELEASE_DATE RUBY_COPYRIGHT \
        RUBY_DESCRIPTION",
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
    modules: List::of(
        "json yaml date time set pp csv digest securerandom base64 benchmark bigdecimal stringio psych",
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
    functions: List::of(
        "echo print printf sprintf vsprintf vprintf number_format print_r var_dump var_export json_encode \
        json_decode json_last_error json_last_error_msg isset empty unset list array fn function use return \
        foreach as for while do if else elseif endif endforeach endfor endwhile switch case default break \
        continue match try catch finally throw new instanceof and or xor null true false int string bool \
        float object mixed void iterable exit die count sizeof in_array array_keys array_values array_merge \
        array_merge_recursive array_combine array_flip array_slice array_splice array_push array_pop \
        array_shift array_unshift array_unique array_reverse array_sum array_product array_key_exists \
        key_exists array_key_first array_key_last array_search array_column array_chunk array_fill \
        array_fill_keys array_pad array_diff array_diff_key array_diff_assoc array_intersect \
        array_intersect_key array_is_list array_count_values array_rand range sort rsort asort \
        arsort ksort krsort natsort natcasesort shuffle current key next prev reset end min max abs ceil \
        floor round sqrt pow intdiv fmod log log10 log2 exp sin cos tan pi rand mt_rand random_int \
        random_bytes mt_srand intval floatval strval boolval settype gettype get_debug_type is_array \
        is_string is_int is_integer is_float is_numeric is_bool is_null is_object is_nan is_infinite \
        ctype_digit ctype_alpha ctype_alnum ctype_upper ctype_lower ctype_space ctype_xdigit ctype_punct \
        strlen str_replace str_ireplace str_repeat str_pad str_split str_contains str_starts_with \
        str_ends_with str_word_count strpos stripos strrpos strstr stristr strrchr strcmp strcasecmp strncmp \
        strncasecmp strnatcmp strtolower strtoupper strrev strtr substr substr_count substr_replace ucfirst \
        ucwords lcfirst trim ltrim rtrim chop nl2br wordwrap implode join explode chunk_split similar_text \
        levenshtein soundex metaphone addslashes stripslashes htmlspecialchars html_entity_decode \
        htmlentities htmlspecialchars_decode strip_tags mb_strlen mb_substr mb_strtolower mb_strtoupper \
        mb_strpos mb_str_split mb_convert_encoding mb_detect_encoding mb_internal_encoding mb_strwidth iconv \
        utf8_encode utf8_decode ord chr dechex hexdec decbin bindec decoct octdec base_convert bin2hex \
        hex2bin md5 sha1 crc32 hash hash_algos hash_hmac base64_encode base64_decode urlencode urldecode \
        rawurlencode rawurldecode http_build_query parse_url uniqid password_hash password_verify \
        password_get_info serialize pack unpack preg_match preg_match_all preg_split preg_quote preg_grep \
        preg_last_error preg_last_error_msg date gmdate time mktime gmmktime strtotime checkdate microtime \
        hrtime date_default_timezone_set date_default_timezone_get usleep sleep basename dirname pathinfo \
        getcwd phpversion php_sapi_name php_uname php_ini_loaded_file php_ini_scanned_files zend_version \
        memory_get_usage memory_get_peak_usage extension_loaded get_loaded_extensions function_exists \
        ini_get sys_get_temp_dir getmypid gethostname version_compare defined timezone_identifiers_list \
        stream_get_wrappers stream_get_transports pdo_drivers error_reporting gmp_strval bcadd bcsub bcmul \
        bcdiv bcpow bcmod fgets fgetcsv fread feof fclose fflush stream_get_contents fwrite fputs fprintf \
        fputcsv rewind ftell iterator_to_array spl_object_id __line__ __file__ __dir__ php_eol const \
        ctype_cntrl lcg_value str_getcsv array_replace gc_collect_cycles opcache_get_status curl_version \
        openssl_get_cipher_methods gd_info",
    ),
    grave: List::of(
        "eval include include_once require require_once class interface trait extends namespace goto declare \
        global static assert system exec shell_exec passthru popen proc_open pcntl_exec call_user_func \
        call_user_func_array create_function ini_set putenv mail unlink rmdir rename copy extract parse_str",
    ),
    methods: List::of(
        "format getmessage gettimestamp modify diff add sub settimezone gettimezone getname getoffset getcode \
        getline getarraycopy count createfromformat settime setdate createfrommutable createfromimmutable \
        offsetget offsetexists",
    ),
    classes: List::of(
        "datetime datetimeimmutable datetimezone dateinterval dateperiod exception throwable error \
        runtimeexception invalidargumentexception jsonexception typeerror valueerror divisionbyzeroerror \
        stdclass arrayobject closure logicexception",
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
    modules: List::of(""),
    standard_input: &[b"stdin"],
    environment: &[b"getenv", b"$_ENV", b"$_SERVER"],
    grave_variables: &[b"$GLOBALS", b"$this"],
};

#[cfg(test)]
mod tests {
    use super::*;

    /// What starts programs, evaluates text or calls by name is among no words that are vouched for.
    #[test]
    fn nothing_grave_is_vouched_for() {
        for words in [&RUBY, &PHP] {
            for name in words.grave.text.split(' ') {
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
